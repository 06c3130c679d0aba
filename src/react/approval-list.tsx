import { Fragment, useState, type ReactElement, type ReactNode, type RefObject } from 'react';
import { actionFor, type SessionAction } from '../ui/sources/session-actions.ts';
import type { UiApproval } from '../ui/ui-state.ts';
import { approvalGroups } from './approval-groups.ts';
import { ApprovalTable } from './approval-table.tsx';
import { ApprovalView, type ApprovalText, type ApprovalViewProps } from './approval-view.tsx';
import { part } from './part.ts';
import { Problem } from './problem.tsx';
import { useUi } from './ui-context.ts';
import { useKeptFocus } from './use-kept-focus.ts';

export interface ApprovalListProps extends Pick<
  ApprovalViewProps,
  'onApprove' | 'onDeny' | 'onDismiss' | 'keysFor' | 'canRemember'
> {
  readonly approvals: readonly UiApproval[];
  readonly actions: readonly SessionAction[];
  /** Approves all listed calls, or these of them. Offered for two or more. Absent: it is not offered. */
  readonly onApproveAll?: (
    callIds?: readonly string[],
    options?: { readonly remember: 'session' },
  ) => unknown;
  /** Denies several calls with one reason. Absent: it is not offered. */
  readonly onDenySome?: (callIds: readonly string[], reason: string) => unknown;
  /** Returns the agent that made a call; null for the session's own. */
  readonly agentOf?: (approval: UiApproval) => string | null;
  /** Content next to the title of a table, such as how long it waits. */
  readonly asideOf?: (approvals: readonly UiApproval[]) => ReactNode;
  /** Element that gets the focus when the last approval with the focus is gone. */
  readonly nextFocus?: RefObject<HTMLElement | null>;
  /** Returns the texts of each approval, instead of the labels; `place` counts from 1. */
  readonly textOf?: (approval: UiApproval, place: number) => ApprovalText;
}

/**
 * Renders all calls that need approval: three or more of one tool as a table, each other as a card. The focus moves to
 * the next one, and never back to the top of the page.
 */
export function ApprovalList(props: ApprovalListProps): ReactElement | null {
  const { approvals, actions, nextFocus, textOf, onApproveAll, onDenySome, agentOf, ...given } =
    props;
  const { asideOf, ...card } = given;
  const { components, labels } = useUi();
  const [reviewed, setReviewed] = useState<ReadonlySet<string>>(() => new Set());
  const all = actionFor(actions, 'approveAll', approvals[0]?.execution_id ?? null);
  const focus = useKeptFocus('[data-onward="approval-title"]', nextFocus);
  const Approval = components.Approval ?? ApprovalView;
  const isSending = all?.status === 'pending';
  const actionOf = (callId: string): SessionAction | null =>
    actionFor(actions, 'approve', callId) ?? actionFor(actions, 'deny', callId);
  const canGroup = onApproveAll !== undefined && onDenySome !== undefined && !components.Approval;
  const groups = canGroup
    ? approvalGroups(approvals)
    : approvals.map((approval) => ({ tool: approval.tool, approvals: [approval] }));
  const review = (tool: string): void =>
    setReviewed((before) => {
      const next = new Set(before);
      if (!next.delete(tool)) next.add(tool);
      return next;
    });
  const hasTable = groups.some(
    ({ tool, approvals: { length } }) => length > 1 && !reviewed.has(tool),
  );
  return (
    <div {...focus} {...part('approvals')}>
      {groups.map(({ tool, approvals: alike }) =>
        alike.length > 1 && !reviewed.has(tool) ? (
          <ApprovalTable
            key={`table ${tool}`}
            tool={tool}
            approvals={alike}
            actionOf={actionOf}
            isSending={isSending}
            canRemember={card.canRemember ?? false}
            agentOf={agentOf}
            aside={asideOf?.(alike)}
            onReview={() => review(tool)}
            {...(card.onApprove && { onApprove: card.onApprove })}
            {...(onApproveAll && {
              onApproveSome: (callIds: readonly string[], remember: boolean) =>
                remember ? onApproveAll(callIds, { remember: 'session' }) : onApproveAll(callIds),
            })}
            {...(onDenySome && { onDenySome })}
          />
        ) : (
          <Fragment key={`cards ${alike[0]?.execution_id} ${alike[0]?.tool_call_id}`}>
            {alike.map((approval) => (
              <Approval
                key={`${approval.execution_id} ${approval.tool_call_id}`}
                approval={approval}
                action={actionOf(approval.tool_call_id)}
                {...card}
                {...textOf?.(approval, approvals.indexOf(approval) + 1)}
              />
            ))}
            {alike.length > 1 && (
              <button type="button" {...part('link')} onClick={() => review(tool)}>
                {labels.reviewTogether}
              </button>
            )}
          </Fragment>
        ),
      )}
      {onApproveAll && approvals.length > 1 && !hasTable && (
        <div {...part('approve-all')}>
          <button
            type="button"
            {...part('button')}
            aria-disabled={isSending}
            onClick={() => void (!isSending && onApproveAll())}
          >
            {isSending ? labels.answering : labels.approveAll(approvals.length)}
          </button>
        </div>
      )}
      {all?.status === 'failed' && (
        <Problem action={all} {...(card.onDismiss && { onDismiss: card.onDismiss })} />
      )}
    </div>
  );
}
