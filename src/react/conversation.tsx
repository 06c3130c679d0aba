import { useLayoutEffect, useMemo, useRef, type ReactElement, type ReactNode } from 'react';
import { actionFor, type SessionAction } from '../ui/sources/session-actions.ts';
import { noInputs } from '../ui/log-snapshot.ts';
import type { UiMessage } from '../ui/ui-message.ts';
import type { UiStop } from '../ui/ui-state.ts';
import { Announcer } from './announcer.tsx';
import { conversationRows, type ConversationRow, type ShownState } from './conversation-rows.ts';
import { Glyph } from './glyph.tsx';
import { MessageView } from './message-view.tsx';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';
import { useFollowEnd } from './use-follow-end.ts';

export interface ConversationProps {
  readonly state: ShownState;
  readonly actions?: readonly SessionAction[];
  readonly onRetry?: (actionId: string) => unknown;
  readonly onDismiss?: (actionId: string) => void;
  /** Content to show while there are no messages. */
  readonly empty?: ReactNode;
  /** Whether the children show why it stopped, so that the stop line is omitted. Default: false. */
  readonly stopBelow?: boolean;
  /** Content after the last message, for example approvals. */
  readonly children?: ReactNode;
}

const noActions: readonly SessionAction[] = [];

/** Whether the row says why the session does not continue now: the last stop, with nothing after it. */
const isStop = (
  { id, metadata }: UiMessage,
  stop: UiStop | null,
  rows: readonly ConversationRow[],
): boolean =>
  stop !== null &&
  metadata.continuation !== undefined &&
  rows.findLast(({ message }) => message.metadata.pending !== true)?.message.id === id;

/** Renders all messages in order and follows the end. Announces finished messages only. */
export function Conversation(props: ConversationProps): ReactElement {
  const { state, actions = noActions, onRetry, onDismiss, empty, stopBelow, children } = props;
  const { labels, components } = useUi();
  const { messages, status, approvals, inputs = noInputs, stop } = state;
  const before = useRef<readonly ConversationRow[]>([]);
  const rows = useMemo(
    // the previous rows only save work: the result is the same without them
    () =>
      (before.current = conversationRows({ messages, status, approvals, inputs }, before.current)),
    [messages, status, approvals, inputs],
  );
  const { ref, onScroll, isBehind, toEnd } = useFollowEnd(state, actions);
  const Message = components.Message ?? MessageView;
  /** Returns messages that the user sent after the end of the last run. */
  const sentAt = rows.findLastIndex(({ message }) => !message.metadata.pending) + 1;
  const lastSent = rows.at(sentAt < rows.length ? -1 : rows.length)?.message.id;
  useLayoutEffect(() => {
    if (lastSent !== undefined) toEnd();
  }, [lastSent, toEnd]);

  const draw = ({ message, calls, isStreaming }: ConversationRow): ReactElement | null =>
    stopBelow && isStop(message, stop, rows) ? null : (
      <Message
        key={message.id}
        message={message}
        calls={calls}
        isStreaming={isStreaming}
        action={message.role === 'user' ? actionFor(actions, 'send', message.id) : null}
        {...(onRetry && { onRetry })}
        {...(onDismiss && { onDismiss })}
      />
    );
  return (
    <div {...part('conversation')}>
      <div
        ref={ref}
        {...part('log')}
        role="log"
        aria-live="off"
        aria-label={labels.conversation}
        tabIndex={0}
        onScroll={onScroll}
      >
        {rows.length === 0 && <div {...part('empty')}>{empty ?? labels.empty}</div>}
        {rows.slice(0, sentAt).map(draw)}
        {children}
        {rows.slice(sentAt).map(draw)}
      </div>
      {isBehind && (
        <button type="button" {...part('new-below')} onClick={toEnd}>
          <Glyph name="down" />
          {labels.newBelow}
        </button>
      )}
      <Announcer messages={messages} status={status} approvals={approvals} stop={stop} />
    </div>
  );
}
