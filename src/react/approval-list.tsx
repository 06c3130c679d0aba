import type { ReactElement, RefObject } from 'react';
import { actionFor, type SessionAction } from '../ui/sources/session-actions.ts';
import type { UiApproval } from '../ui/ui-state.ts';
import { ApprovalView, type ApprovalText, type ApprovalViewProps } from './approval-view.tsx';
import { part } from './part.ts';
import { Problem } from './problem.tsx';
import { useUi } from './ui-context.ts';
import { useKeptFocus } from './use-kept-focus.ts';

export interface ApprovalListProps extends Pick<
  ApprovalViewProps,
  'onApprove' | 'onDeny' | 'onDismiss' | 'keysFor'
> {
  readonly approvals: readonly UiApproval[];
  readonly actions: readonly SessionAction[];
  /** Approves all listed calls. The button is offered for two or more. Absent: it is not offered. */
  readonly onApproveAll?: () => unknown;
  /** Element that gets the focus when the last approval with the focus is gone. */
  readonly nextFocus?: RefObject<HTMLElement | null>;
  /** Returns the texts of each approval, instead of the labels; `place` counts from 1. */
  readonly textOf?: (approval: UiApproval, place: number) => ApprovalText;
}

/** Renders all calls that need approval. The focus moves to the next one, and never back to the top of the page. */
export function ApprovalList(props: ApprovalListProps): ReactElement | null {
  const { approvals, actions, nextFocus, textOf, onApproveAll, ...given } = props;
  const { components, labels } = useUi();
  const all = actionFor(actions, 'approveAll', approvals[0]?.execution_id ?? null);
  const focus = useKeptFocus('[data-onward="approval-title"]', nextFocus);
  const Approval = components.Approval ?? ApprovalView;
  return (
    <div {...focus} {...part('approvals')}>
      {approvals.map((approval, i) => {
        const { tool_call_id: callId } = approval;
        return (
          <Approval
            key={`${approval.execution_id} ${callId}`}
            approval={approval}
            action={actionFor(actions, 'approve', callId) ?? actionFor(actions, 'deny', callId)}
            {...given}
            {...textOf?.(approval, i + 1)}
          />
        );
      })}
      {onApproveAll && approvals.length > 1 && (
        <div {...part('approve-all')}>
          <button
            type="button"
            {...part('button')}
            aria-disabled={all?.status === 'pending'}
            onClick={() => void (all?.status !== 'pending' && onApproveAll())}
          >
            {all?.status === 'pending' ? labels.answering : labels.approveAll(approvals.length)}
          </button>
          {all?.status === 'failed' && (
            <Problem action={all} {...(given.onDismiss && { onDismiss: given.onDismiss })} />
          )}
        </div>
      )}
    </div>
  );
}
