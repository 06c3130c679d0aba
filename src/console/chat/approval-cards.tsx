import { useLayoutEffect, useRef, type FocusEvent, type ReactElement, type RefObject } from 'react';
import type { JsonObject } from '../../json.ts';
import type { ConversationRow } from '../../react/conversation-rows.ts';
import type { PendingApproval } from '../../events/agent-event.ts';
import { actionFor, type SessionAction } from '../../ui/sources/session-actions.ts';
import type { UiApproval } from '../../ui/ui-state.ts';
import { ApprovalCard } from './approval-card.tsx';

export interface ApprovalCardsProps {
  readonly approvals: readonly UiApproval[];
  /** As the server keeps them: who asked through whom. */
  readonly pending: readonly PendingApproval[];
  readonly actions: readonly SessionAction[];
  /** The rows of the turn: what else was called beside it. */
  readonly rows: readonly ConversationRow[];
  readonly onApprove: (callId: string, args?: JsonObject) => void;
  readonly onDeny: (callId: string, reason: string) => void;
  /** Takes the focus when the last card with the focus in it is gone. */
  readonly nextFocus: RefObject<HTMLElement | null>;
}

/** All calls that wait. The focus goes on to the next one, and never falls back to the top of the page. */
export function ApprovalCards(props: ApprovalCardsProps): ReactElement {
  const { approvals, pending, actions, rows, onApprove, onDeny, nextFocus } = props;
  const box = useRef<HTMLDivElement>(null);
  const hadFocus = useRef(false);
  useLayoutEffect(() => {
    const { activeElement, body } = document;
    if (!hadFocus.current || (activeElement !== body && activeElement !== null)) return;
    const title = box.current?.querySelector<HTMLElement>('[data-approval-title]');
    (title ?? nextFocus.current)?.focus({ preventScroll: !title });
    if (!title) hadFocus.current = false;
  });
  const onBlur = (event: FocusEvent): void => {
    // a part that is taken away while it has the focus blurs to nowhere
    if (event.relatedTarget && !event.currentTarget.contains(event.relatedTarget))
      hadFocus.current = false;
  };
  return (
    <div ref={box} className="approvals" onFocus={() => (hadFocus.current = true)} onBlur={onBlur}>
      {approvals.map((approval, place) => {
        const { tool_call_id: callId } = approval;
        return (
          <ApprovalCard
            key={`${approval.execution_id} ${callId}`}
            approval={approval}
            place={place + 1}
            count={approvals.length}
            path={pending.find((one) => one.callId === callId)?.path ?? []}
            others={othersText(rows, callId)}
            action={actionFor(actions, 'approve', callId) ?? actionFor(actions, 'deny', callId)}
            onApprove={onApprove}
            onDeny={onDeny}
          />
        );
      })}
    </div>
  );
}

/** "; the other call of this step has finished and will not run again." */
function othersText(rows: readonly ConversationRow[], callId: string): string | null {
  const row = rows.findLast(({ calls }) => calls.some(({ call }) => call.id === callId));
  const done = row?.calls.filter(({ call, result }) => call.id !== callId && result !== null) ?? [];
  if (done.length === 0) return null;
  return done.length === 1
    ? '; the other call of this step has finished and will not run again.'
    : `; ${done.length} other calls of this step have finished and will not run again.`;
}
