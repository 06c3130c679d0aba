import { useRef, type ReactElement, type ReactNode } from 'react';
import { actionFor } from '../ui/sources/session-actions.ts';
import { ApprovalList } from './approval-list.tsx';
import { Composer } from './composer.tsx';
import { ConnectionNote } from './connection-note.tsx';
import { Conversation } from './conversation.tsx';
import { Glyph, statusGlyphs } from './glyph.tsx';
import { InputList } from './input-list.tsx';
import { part } from './part.ts';
import { Problem } from './problem.tsx';
import { StopExplanation } from './stop-explanation.tsx';
import { useUi } from './ui-context.ts';
import { AgentUiProvider, type AgentUiProviderProps } from './ui-provider.tsx';
import { UsageView } from './usage-view.tsx';
import type { AgentSession } from './use-agent-session.ts';

export interface AgentChatProps extends Omit<AgentUiProviderProps, 'children'> {
  readonly session: AgentSession;
  /** Content to show while there are no messages. */
  readonly empty?: ReactNode;
  /** Content next to the status, for example a title. */
  readonly title?: ReactNode;
  /** Whether the user may send messages during a run, for servers that queue them. Default: false. */
  readonly sendWhileBusy?: boolean;
  /** Bytes that the images and files of one message may have, where the actions send them. Default: 2,500,000. */
  readonly maxAttachmentBytes?: number;
  readonly className?: string;
}

/** Renders a whole chat: conversation, approvals, questions of tools, why it stopped, and a composer. */
export function AgentChat(props: AgentChatProps): ReactElement {
  return (
    <AgentUiProvider {...props}>
      <Chat {...props} />
    </AgentUiProvider>
  );
}

function Chat(props: AgentChatProps): ReactElement {
  const { session, className } = props;
  const { labels, components } = useUi();
  const field = useRef<HTMLTextAreaElement>(null);
  const { state, status, approvals, inputs, stop, actions, can } = session;
  const { retry, dismiss } = session;
  const isBusy = status === 'processing';
  const needsApproval = approvals.length > 0;
  const blockedBy = needsApproval
    ? labels.answerFirst
    : inputs.length > 0
      ? labels.answerQuestion
      : isBusy && props.sendWhileBusy !== true
        ? labels.busy
        : null;
  const stopping = actionFor(actions, 'stop', state.executionId);
  const Stop = components.Stop ?? StopExplanation;
  return (
    <section {...part('chat', className)} data-status={status} aria-label={labels.conversation}>
      <header {...part('header')}>
        {props.title}
        <p {...part('status')} data-status={status}>
          <Glyph name={statusGlyphs[status]} />
          {labels.status[status]}
        </p>
        <UsageView usage={state.usage} stepCount={state.stepCount} />
      </header>
      <ConnectionNote connection={session.connection} error={session.error} />
      <Conversation
        state={state}
        actions={actions}
        onRetry={retry}
        onDismiss={dismiss}
        empty={props.empty}
        stopBelow
      >
        <ApprovalList
          approvals={approvals}
          actions={actions}
          nextFocus={field}
          onDismiss={dismiss}
          {...(can.approve && { onApprove: session.approve })}
          canRemember={session.canRemember}
          {...(can.deny && { onDeny: session.deny, onDenySome: session.denySome })}
          {...(can.approveAll && { onApproveAll: session.approveAll })}
        />
        <InputList
          inputs={inputs}
          actions={actions}
          nextFocus={field}
          onDismiss={dismiss}
          {...(can.answer && { onAnswer: session.answer })}
        />
        {stop && !needsApproval && inputs.length === 0 && (
          <Stop
            stop={stop}
            action={
              actionFor(actions, 'resume', stop.timestamp) ??
              actionFor(actions, 'retry', stop.timestamp)
            }
            onDismiss={dismiss}
            allowance={session.allowance ?? null}
            {...(can.resume && session.allowance !== undefined && { onResume: session.resume })}
            {...(can.retry && { onRetry: session.retrySession })}
          />
        )}
      </Conversation>
      {stopping?.status === 'failed' && (
        <Problem action={stopping} onRetry={retry} onDismiss={dismiss} />
      )}
      {can.send && (
        <Composer
          fieldRef={field}
          onSend={session.send}
          attachments={
            session.canAttach
              ? { maxBytes: props.maxAttachmentBytes ?? 2_500_000, maxCount: 10 }
              : undefined
          }
          blockedBy={blockedBy}
          {...(can.stop && isBusy && { onStop: session.stopRun })}
          isStopping={stopping?.status === 'pending' || stopping?.status === 'done'}
          {...(stop &&
            status !== 'completed' &&
            status !== 'paused' && { placeholder: labels.placeholderStopped })}
        />
      )}
    </section>
  );
}
