import type { ReactElement } from 'react';
import type { ConversationRow } from '../../react/conversation-rows.ts';
import { ToolFiles } from '../../react/tool-files.tsx';
import { textBeside } from '../../ui/files-text.ts';
import type { SessionAction } from '../../ui/sources/session-actions.ts';
import { Glyph } from '../glyphs.tsx';
import { Folded } from './folded.tsx';

export interface UserMessageProps {
  readonly row: ConversationRow;
  readonly delivery: SessionAction | null;
  /** Whether it waits for the end of the current run. */
  readonly isQueued: boolean;
  readonly onRetry: (actionId: string) => void;
  readonly onEdit: (actionId: string, text: string) => void;
}

/** Renders a user message. One that could not be sent shows why, and can be retried or edited. */
export function UserMessage(props: UserMessageProps): ReactElement {
  const { row, delivery, isQueued, onRetry, onEdit } = props;
  const { content, metadata } = row.message;
  const { files } = metadata;
  const text = textBeside(row.message);
  const hasFailed = delivery?.status === 'failed';
  return (
    <div className="user" data-failed={hasFailed || undefined}>
      {files && <ToolFiles files={files} />}
      {text !== '' && (
        <article className="user-text" aria-label="You" data-pending={metadata.pending} dir="auto">
          <Folded text={text}>{text}</Folded>
        </article>
      )}
      {isQueued && !hasFailed && <p className="user-queued">Queued: runs after this run</p>}
      {delivery && hasFailed && (
        <p className="user-note" role="alert">
          <Glyph name="failed" size={14} />
          <span>
            <b>Not sent.</b> {delivery.error?.message}
          </span>
          <button
            type="button"
            className="button button-small"
            onClick={() => onRetry(delivery.id)}
          >
            Try again
          </button>
          <button
            type="button"
            className="button button-small"
            onClick={() => onEdit(delivery.id, content)}
          >
            Edit
          </button>
        </p>
      )}
    </div>
  );
}
