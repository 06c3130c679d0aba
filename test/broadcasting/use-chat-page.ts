import { clearPage } from './use-chat-dom.ts'; // first, because React checks for a DOM when it is loaded
import { useChat, type UseChatHelpers } from '@ai-sdk/react';
import { act, cleanup, renderHook, waitFor } from '@testing-library/react';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type ChatInit,
} from 'ai';
import { ErrorPolicy, type SessionRuntime, type Tool } from 'onward';
import { toUseChatMessages, type ChatHandlerOptions } from 'onward/broadcasting/use-chat';
import type { ScenarioStep } from 'onward/testing';
import { afterEach, expect } from 'vitest';
import { ann, builderWith, gate, memoryPlace, runtimeOn, type Gate } from '../setup/sessions.ts';
import {
  handlerOn,
  pacedDriver,
  serveChat,
  type OnwardUIMessage,
  type Pace,
} from './use-chat-setup.ts';

afterEach(() => {
  cleanup();
  clearPage();
});

export interface World {
  readonly runtime: SessionRuntime;
  readonly api: string;
  readonly pace: Pace;
}

/** Serves a chat with these turns of the model over HTTP. */
export async function world(
  turns: readonly (readonly ScenarioStep[])[],
  tools: readonly Tool[] = [],
  options: Partial<ChatHandlerOptions> & { readonly maxSteps?: number } = {},
): Promise<World> {
  const pace: Pace = { beforePiece: () => {} };
  const agent = builderWith(pacedDriver(pace, ...turns), ...tools)
    .withMaxSteps(options.maxSteps ?? 10)
    .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
    .build();
  const runtime = runtimeOn(memoryPlace().open(), agent);
  return { runtime, api: await serveChat(handlerOn(runtime, options)), pace };
}

export interface PageOptions extends Partial<ChatInit<OnwardUIMessage>> {
  readonly resume?: boolean;
}

export interface Page {
  chat(): UseChatHelpers<OnwardUIMessage>;
  /** Data parts in the order of arrival. */
  readonly data: readonly unknown[];
  unmount(): void;
  say(text: string): Promise<void>;
  approve(id: string, approved?: boolean, reason?: string): Promise<void>;
  ready(): Promise<void>;
  answer(): OnwardUIMessage;
  texts(): string[];
}

/** Renders a front end like the AI SDK guides. */
export function open({ api }: World, options: PageOptions = {}): Page {
  const data: unknown[] = [];
  const { result, unmount } = renderHook(() =>
    useChat<OnwardUIMessage>({
      id: 'chat-1',
      transport: new DefaultChatTransport({ api }),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      onData: (part) => data.push(part),
      ...options,
    }),
  );
  const chat = () => result.current;
  return {
    chat,
    data,
    unmount,
    say: (text: string) => act(async () => void chat().sendMessage({ text })),
    approve: (id: string, approved = true, reason?: string) =>
      act(async () => {
        await chat().addToolApprovalResponse({ id, approved, ...(reason && { reason }) });
      }),
    ready: () => waitFor(() => expect(chat().status).toBe('ready'), { timeout: 3_000 }),
    answer: () => chat().messages.at(-1) as OnwardUIMessage,
    texts: () => textsOf(chat().messages),
  };
}

const textsOf = (messages: readonly OnwardUIMessage[]): string[] =>
  messages.map(({ role, parts }) => {
    const words = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    return `${role}: ${words.join(' | ')}`;
  });

/** Reads the stored conversation. */
export const stored = async ({ runtime }: World): Promise<OnwardUIMessage[]> => {
  const { items } = await runtime.messages('chat-1', ann);
  const { pendingApprovals, pendingInputs } = await runtime.get('chat-1', ann);
  return toUseChatMessages(items, { pendingApprovals, pendingInputs });
};

/** Stops the stream before a chunk until the gate opens. */
export function holdAt({ pace }: World, piece: string): Gate {
  const hold = gate();
  pace.beforePiece = (text) => (text === piece ? hold.passed : undefined);
  return hold;
}
