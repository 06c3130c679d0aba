import { getToolName, isToolUIPart } from 'ai';
import type { ReactElement } from 'react';
import type { ChatMessage } from './chat.tsx';

interface PartProps {
  readonly part: ChatMessage['parts'][number];
  readonly onAnswer: (approvalId: string, approved: boolean) => void;
}

/** A piece of a message: words, a call with its question or its result, or why it stopped. */
export function Part({ part, onAnswer }: PartProps): ReactElement | null {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (part.type === 'data-onward-stop' && part.data.status !== 'completed')
    return (
      <p role="status">
        {part.data.message} {part.data.explanation?.actions[0]?.text}
      </p>
    );
  if (!isToolUIPart(part)) return null;
  const call = `${getToolName(part)} ${JSON.stringify(part.input ?? {})}`;
  if (part.state === 'approval-requested')
    return (
      <fieldset>
        <legend>May this run?</legend>
        <code>{call}</code>{' '}
        <button onClick={() => onAnswer(part.approval.id, true)}>Approve</button>{' '}
        <button onClick={() => onAnswer(part.approval.id, false)}>Deny</button>
      </fieldset>
    );
  return (
    <p>
      <code>{call}</code> {part.state === 'output-available' && '✓'}
      {part.state === 'output-error' && `✗ ${part.errorText}`}
      {part.state === 'output-denied' && '✗ denied'}
    </p>
  );
}
