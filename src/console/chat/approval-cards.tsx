import type { ReactElement } from 'react';
import type { PendingApproval } from '../../events/agent-event.ts';
import type { ApprovalMode, ApprovalText } from '../../react/approval-view.tsx';
import { ApprovalList, type ApprovalListProps } from '../../react/approval-list.tsx';
import type { ConversationRow } from '../../react/conversation-rows.ts';
import type { AgentLabels } from '../../react/labels.ts';
import { AgentUiProvider } from '../../react/ui-provider.tsx';
import type { UiApproval } from '../../ui/ui-state.ts';
import { visibleText } from '../../visible-text.ts';
import { questionOf } from './approval-text.ts';
import { changesText } from './changes-text.ts';

export interface ApprovalCardsProps extends Omit<ApprovalListProps, 'textOf' | 'keysFor'> {
  /** Pending approvals of the server, with the path of agents. */
  readonly pending: readonly PendingApproval[];
  /** Rows of the turn, for other calls of the same step. */
  readonly rows: readonly ConversationRow[];
}

const labels: Partial<AgentLabels> = {
  changes: changesText,
  editHint: 'Checked against the tool’s schema again before it runs.',
  denyHint: 'The model reads this as the result of the call, and can try something else.',
  failed: (problem) => problem || 'The server sent no reason.',
};

/** Renders all calls that need approval, with what the console knows of them. */
export function ApprovalCards({ pending, rows, ...props }: ApprovalCardsProps): ReactElement {
  const { length: count } = props.approvals;
  const textOf = (approval: UiApproval, place: number): ApprovalText => ({
    title: <Question {...approval} />,
    hint: <Facts approval={approval} {...{ pending, rows }} />,
    ...(count > 1 && { aside: `${place} of ${count}` }),
  });
  return (
    <AgentUiProvider labels={labels}>
      <ApprovalList {...props} textOf={textOf} keysFor={keysFor} />
    </AgentUiProvider>
  );
}

/** Shortcuts of the page and of the forms. The page shows them at the first call that can be answered. */
const keysFor = (mode: ApprovalMode): ReactElement => (
  <span className="approval-keys" aria-hidden="true">
    {keys[mode].map((name) => (
      <kbd key={name}>{name}</kbd>
    ))}
  </span>
);

const isApple = /mac|iphone|ipad/i.test(globalThis.navigator?.platform ?? '');
const keys: Readonly<Record<ApprovalMode, readonly string[]>> = {
  look: ['A', 'E', 'D'],
  edit: [isApple ? '⌘ ⏎' : 'Ctrl ⏎', 'Esc'],
  deny: ['⏎', 'Esc'],
};

/** Renders "Delete **lead_1874**?" */
function Question({ tool, args }: UiApproval): ReactElement {
  const { ask, what } = questionOf(tool, args);
  return (
    <>
      {ask}
      {what !== null && (
        <>
          {' '}
          <b>{visibleText(what)}</b>
        </>
      )}
      ?
    </>
  );
}

interface FactsProps extends Pick<ApprovalCardsProps, 'pending' | 'rows'> {
  readonly approval: UiApproval;
}

/** Renders what has and has not happened, and through which agents the call was made. */
function Facts({ approval, pending, rows }: FactsProps): ReactElement {
  const { tool, tool_call_id: callId } = approval;
  const path = pending.find((one) => one.callId === callId)?.path ?? [];
  return (
    <>
      <code>{tool}</code> runs only if you approve it. It has not run yet{othersText(rows, callId)}
      {path.length > 0 && (
        <span className="approval-path">
          requested by <code>{path.join(' › ')}</code>
        </span>
      )}
    </>
  );
}

/** Returns "; the other call of this step has finished and will not run again." */
function othersText(rows: readonly ConversationRow[], callId: string): string {
  const row = rows.findLast(({ calls }) => calls.some(({ call }) => call.id === callId));
  const done = row?.calls.filter(({ call, result }) => call.id !== callId && result !== null) ?? [];
  if (done.length === 0) return '.';
  return done.length === 1
    ? '; the other call of this step has finished and will not run again.'
    : `; ${done.length} other calls of this step have finished and will not run again.`;
}
