'use client';

import { Chat as ChatState, useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai';
import type { OnwardDataParts, OnwardMetadata } from 'onward/broadcasting/use-chat';
import { useState, type ReactElement } from 'react';
import { Part } from './part.tsx';

export type ChatMessage = UIMessage<OnwardMetadata, OnwardDataParts>;

interface ChatProps {
  readonly id: string;
  readonly initial: ChatMessage[];
}

/** A question that stands there already needs no replay, which would take back an answer that is given meanwhile. */
const asks = (last: ChatMessage | undefined): boolean =>
  last?.parts.some((part) => isToolUIPart(part) && part.state === 'approval-requested') ?? false;

export function Chat({ id, initial }: ChatProps): ReactElement {
  const [chat] = useState(
    () =>
      new ChatState<ChatMessage>({
        id,
        messages: initial,
        transport: new DefaultChatTransport({ api: '/api/chat' }),
        sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      }),
  );
  const { messages, sendMessage, addToolApprovalResponse, status, error } = useChat({
    chat,
    // an answer that is under way is followed again after a reload
    resume: initial.length > 0 && !asks(initial.at(-1)),
  });
  const send = (form: FormData): void => {
    const text = form.get('text');
    if (typeof text === 'string') void sendMessage({ text });
  };
  return (
    <>
      <div role="log">
        {messages.map(({ id, role, parts }) => (
          <article key={id} aria-label={role}>
            <strong>{role === 'user' ? 'You' : 'Editor'}</strong>
            {parts.map((part, i) => (
              <Part
                key={i}
                part={part}
                onAnswer={(id, approved) => void addToolApprovalResponse({ id, approved })}
              />
            ))}
          </article>
        ))}
      </div>
      {error && <p role="alert">{error.message}</p>}
      <form action={send}>
        <input name="text" aria-label="Message" required autoComplete="off" />
        <button disabled={status !== 'ready'}>Send</button>
      </form>
    </>
  );
}
