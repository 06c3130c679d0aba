import { useId, useRef, useState, type ReactElement, type ReactNode, type Ref } from 'react';
import type { JsonObject } from '../json.ts';
import type { SessionAction } from '../ui/sources/session-actions.ts';
import type { UiApproval } from '../ui/ui-state.ts';
import { ApprovalEditor } from './approval-editor.tsx';
import { ArgumentList, isComplete } from './argument-list.tsx';
import { DenyForm } from './deny-form.tsx';
import { Glyph } from './glyph.tsx';
import type { AgentLabels } from './labels.ts';
import { part } from './part.ts';
import { Problem } from './problem.tsx';
import { RememberChoice } from './remember-choice.tsx';
import { useUi } from './ui-context.ts';

/** Texts that replace the labels. */
export interface ApprovalText {
  /** Replaces `labels.approvalTitle(tool)`. */
  readonly title?: ReactNode;
  /** Replaces `labels.approvalHint`. */
  readonly hint?: ReactNode;
  /** Content next to the title, such as "1 of 3". */
  readonly aside?: ReactNode;
}

export interface ApprovalViewProps extends ApprovalText {
  readonly approval: UiApproval;
  /** State of the answer, once the user has given one. */
  readonly action: SessionAction | null;
  /** Approves the call. Absent: approving is not offered. */
  readonly onApprove?: (
    callId: string,
    args?: JsonObject,
    options?: { readonly remember: 'session' },
  ) => unknown;
  /** Whether to offer to approve later calls of the tool too. Default: false. */
  readonly canRemember?: boolean;
  /** Denies the call. Absent: denying is not offered. */
  readonly onDeny?: (callId: string, reason: string) => unknown;
  readonly onDismiss?: (actionId: string) => void;
  /** Content after the buttons, such as keyboard shortcuts. A page finds the buttons by `data-key`. */
  readonly keysFor?: (mode: ApprovalMode) => ReactNode;
}

/** What the user does: view the call, or edit its arguments. */
export type ApprovalMode = 'look' | 'edit';

/** Renders a call that needs approval: view or change its arguments, approve it or deny it. */
export function ApprovalView(props: ApprovalViewProps): ReactElement {
  const { approval, action, onApprove, onDeny, onDismiss, keysFor, canRemember = false } = props;
  const { labels } = useUi();
  const [mode, setMode] = useState<ApprovalMode>('look');
  const titleId = useId();
  const edit = useRef<HTMLButtonElement>(null);
  const [remembers, setRemembers] = useState(false);
  const { tool_call_id: callId, args } = approval;
  const isSending = action?.status === 'pending';
  const isDone = action?.status === 'done';
  const canEdit = onApprove !== undefined && isComplete(args);
  const open: ApprovalMode = isDone ? 'look' : mode;

  const approve = (args?: JsonObject): void => {
    if (remembers) onApprove?.(callId, args, { remember: 'session' });
    else if (args) onApprove?.(callId, args);
    else onApprove?.(callId);
  };
  /** Returns the focus to the button that opened the form. */
  const leave = (): void => {
    setMode('look');
    setTimeout(() => edit.current?.focus());
  };
  return (
    <section
      {...part('approval')}
      aria-labelledby={titleId}
      data-sent={isSending || isDone || undefined}
    >
      <header {...part('approval-head')}>
        <Glyph name="paused" />
        <h3 id={titleId} tabIndex={-1} {...part('approval-title')}>
          {props.title ?? labels.approvalTitle(approval.tool)}
        </h3>
        {props.aside !== undefined && <span {...part('approval-aside')}>{props.aside}</span>}
      </header>
      <p {...part('approval-hint')}>{props.hint ?? labels.approvalHint}</p>
      {open === 'edit' && canEdit ? (
        <ApprovalEditor
          args={args}
          isSending={isSending}
          aside={keysFor?.('edit')}
          onApprove={approve}
          onCancel={leave}
        />
      ) : (
        <ArgumentList approval={approval} />
      )}
      {action?.status === 'failed' && (
        <Problem
          action={action}
          text={problemText(labels, action)}
          {...(onDismiss && { onDismiss })}
        />
      )}
      {open === 'look' && (isSending || isDone) && (
        <p {...part('approval-sent')} role="status">
          <Glyph name="working" size={14} />
          {isSending ? labels.answering : action.kind === 'deny' ? labels.denied : labels.answered}
        </p>
      )}
      {open === 'look' && !isSending && !isDone && (
        <footer {...part('buttons')}>
          {onApprove && (
            <Answer answer="approve" kind="primary" onClick={() => approve()}>
              <Glyph name="check" size={14} />
              {labels.approve}
            </Answer>
          )}
          {canEdit && (
            <Answer answer="edit" ref={edit} onClick={() => setMode('edit')}>
              {labels.edit}
            </Answer>
          )}
          {onApprove && canRemember && (
            <RememberChoice tool={approval.tool} isChosen={remembers} onChoice={setRemembers} />
          )}
          {keysFor?.('look')}
        </footer>
      )}
      {open === 'look' && !isSending && !isDone && onDeny && (
        <DenyForm isSending={isSending} onDeny={(reason) => onDeny(callId, reason)} />
      )}
    </section>
  );
}

function Answer(props: {
  readonly answer: 'approve' | 'edit';
  readonly kind?: 'primary';
  readonly ref?: Ref<HTMLButtonElement>;
  readonly onClick: () => unknown;
  readonly children: ReactNode;
}): ReactElement {
  const { answer, kind, ref, onClick, children } = props;
  return (
    <button
      ref={ref}
      type="button"
      {...part('button')}
      data-kind={kind}
      data-key={answer}
      onClick={() => void onClick()}
    >
      {children}
    </button>
  );
}

/** Another client or person answered first. */
const late: ReadonlySet<unknown> = new Set(['conflict', 'unknown_approval', 'not_resumable']);

function problemText(labels: AgentLabels, { error }: SessionAction): string {
  const code = error && 'code' in error ? error.code : null;
  if (code === 'stale_approval') return labels.staleApproval;
  return late.has(code) ? labels.answeredBefore : labels.failed(error?.message ?? '');
}
