import type { ReactElement } from 'react';
import type { PendingApproval } from '../../events/agent-event.ts';
import type { ApprovalMode, ApprovalText } from '../../react/approval-view.tsx';
import { ApprovalList, type ApprovalListProps } from '../../react/approval-list.tsx';
import type { ConversationRow } from '../../react/conversation-rows.ts';
import type { AgentLabels } from '../../react/labels.ts';
import { AgentUiProvider } from '../../react/ui-provider.tsx';
import type { UiApproval } from '../../ui/ui-state.ts';
import { visibleText } from '../../visible-text.ts';
import { durationText } from '../../number-text.ts';
import { questionOf } from './approval-text.ts';
import { changesText } from './changes-text.ts';

export interface ApprovalCardsProps extends Omit<ApprovalListProps, 'textOf' | 'keysFor'> {
  /** Pending approvals of the server, with the path of agents. */
  readonly pending: readonly PendingApproval[];
  /** Rows of the turn, for other calls of the same step. */
  readonly rows: readonly ConversationRow[];
  /** When the run paused; null if that is not known. */
  readonly since: string | null;
}

const labels: Partial<AgentLabels> = {
  changes: changesText,
  editHint: 'Checked against the tool’s schema again before it runs.',
  denyHint: 'Reason for denying (the model will see it)',
  failed: (problem) => problem || 'The server sent no reason.',
};

/** Renders all calls that need approval, with what the console knows of them. */
export function ApprovalCards({
  pending,
  rows,
  since,
  ...props
}: ApprovalCardsProps): ReactElement {
  const { length: count } = props.approvals;
  const waited = since === null ? [] : [`waiting ${waitText(since)}`];
  const textOf = (approval: UiApproval, place: number): ApprovalText => ({
    title: <Question {...approval} />,
    hint: <Facts approval={approval} {...{ pending, rows }} />,
    aside: [...(count > 1 ? [`${place} of ${count}`] : []), ...waited].join(' · '),
  });
  const agentOf = ({ tool_call_id: callId }: UiApproval): string | null =>
    pending.find((one) => one.callId === callId)?.path.join(' › ') || null;
  return (
    <AgentUiProvider labels={labels}>
      <ApprovalList
        {...props}
        textOf={textOf}
        keysFor={keysFor}
        agentOf={agentOf}
        asideOf={() => ['none has run yet', ...waited].join(' · ')}
      />
    </AgentUiProvider>
  );
}

/** Formats how long it has waited: "2m", "2h 14m". */
function waitText(since: string): string {
  const minutes = Math.max(1, Math.floor((Date.now() - Date.parse(since)) / 60_000));
  return minutes < 60 ? `${minutes}m` : durationText(minutes * 60_000);
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
