import { useId, useRef, useState, type ReactElement } from 'react';
import { hiddenText, isHiddenAt } from '../../events/hidden-args.ts';
import { isRecord, type JsonObject } from '../../json.ts';
import { ValueView } from '../../react/value-view.tsx';
import type { SessionAction } from '../../ui/sources/session-actions.ts';
import { isCut } from '../../ui/message-list.ts';
import type { UiApproval } from '../../ui/ui-state.ts';
import { visibleLines, visibleName, visibleText } from '../../visible-text.ts';
import { Glyph } from '../glyphs.tsx';
import { ApprovalEditor } from './approval-editor.tsx';
import { isLong, isPlainText, jsonText, questionOf } from './approval-text.ts';
import { DenyForm } from './deny-form.tsx';

export interface ApprovalCardProps {
  readonly approval: UiApproval;
  readonly place: number;
  readonly count: number;
  /** Through which agents the call was made; empty for the one that is talked to. */
  readonly path: readonly string[];
  /** What became of the other calls of the step. */
  readonly others: string | null;
  /** What became of the answer, once one was given. */
  readonly action: SessionAction | null;
  readonly onApprove: (callId: string, args?: JsonObject) => void;
  readonly onDeny: (callId: string, reason: string) => void;
}

type Mode = 'look' | 'edit' | 'deny';

/** A call that waits for a person: look at it, change it, let it run or not. */
export function ApprovalCard(props: ApprovalCardProps): ReactElement {
  const { approval, place, count, path, others, action, onApprove, onDeny } = props;
  const { tool, tool_call_id: callId, args } = approval;
  const [mode, setMode] = useState<Mode>('look');
  const titleId = useId();
  const edit = useRef<HTMLButtonElement>(null);
  const deny = useRef<HTMLButtonElement>(null);
  const isSending = action?.status === 'pending';
  const isDone = action?.status === 'done';
  const { ask, what } = questionOf(tool, args);
  const editable = isRecord(args) && !isCut(args) ? args : null;

  /** Back to where the form was opened: the next key press finds its place. */
  const leave = (from: typeof edit): void => {
    setMode('look');
    setTimeout(() => from.current?.focus());
  };
  return (
    <section className="approval" aria-labelledby={titleId} data-sent={isDone || undefined}>
      <header>
        <Glyph name="paused" />
        <h3 id={titleId} tabIndex={-1} data-approval-title>
          {ask}
          {what !== null && (
            <>
              {' '}
              <b>{visibleText(what)}</b>
            </>
          )}
          ?
        </h3>
        {count > 1 && <span className="approval-place">{`${place} of ${count}`}</span>}
      </header>
      <p className="approval-facts">
        <code>{tool}</code> only runs when you say so. It has not run yet{others ?? '.'}
        {path.length > 0 && (
          <span className="approval-path">
            asked by <code>{path.join(' › ')}</code>
          </span>
        )}
      </p>
      {mode === 'edit' && editable && !isDone ? (
        <ApprovalEditor
          args={editable}
          isSending={isSending}
          onApprove={(edited) => onApprove(callId, edited)}
          onCancel={() => leave(edit)}
        />
      ) : (
        <Arguments approval={approval} />
      )}
      {mode === 'deny' && !isDone && (
        <DenyForm
          isSending={isSending}
          onDeny={(reason) => onDeny(callId, reason)}
          onCancel={() => leave(deny)}
        />
      )}
      {action?.status === 'failed' && (
        <p className="approval-failed" role="alert">
          <Glyph name="failed" size={14} />
          <span>{problemText(action)}</span>
        </p>
      )}
      {isDone && (
        <p className="approval-done" role="status">
          <Glyph name="working" size={14} />
          {action.kind === 'deny'
            ? 'Denied. The model is told why.'
            : 'Approved. It goes on in a moment.'}
        </p>
      )}
      {mode === 'look' && !isDone && (
        <div className="approval-buttons">
          <button
            type="button"
            className="button button-primary"
            data-key="approve"
            aria-disabled={isSending}
            onClick={() => !isSending && onApprove(callId)}
          >
            <Glyph name="check" size={14} />
            {isSending ? 'Sending…' : 'Approve'}
          </button>
          {editable && (
            <button
              ref={edit}
              type="button"
              className="button"
              data-key="edit"
              onClick={() => setMode('edit')}
            >
              Edit arguments
            </button>
          )}
          <button
            ref={deny}
            type="button"
            className="button button-danger"
            data-key="deny"
            onClick={() => setMode('deny')}
          >
            Deny…
          </button>
          <span className="approval-keys" aria-hidden="true">
            <kbd>A</kbd>
            {editable && <kbd>E</kbd>}
            <kbd>D</kbd>
          </span>
        </div>
      )}
    </section>
  );
}

/** Somebody else was quicker, in another tab or on another machine: nothing is lost, and nothing is left to do. */
const late: ReadonlySet<unknown> = new Set(['conflict', 'unknown_approval', 'not_resumable']);

function problemText({ error }: SessionAction): string {
  const code = error && 'code' in error ? error.code : null;
  if (code === 'stale_approval')
    return 'Another call waits now than the one you have answered. Yours was not used: load the page again.';
  if (late.has(code))
    return 'Already answered, in another tab or by somebody else. Yours was not used.';
  return error?.message ?? 'The server gave no reason.';
}

/** One line for each argument. */
function Arguments({ approval }: Pick<ApprovalCardProps, 'approval'>): ReactElement {
  const { args, hidden } = approval;
  const hiding = hiddenText(hidden);
  return (
    <>
      {isCut(args) || !isRecord(args) ? (
        <ValueView value={args} label="Arguments" />
      ) : (
        <Entries args={args} hidden={hidden ?? []} />
      )}
      {hiding !== null && (
        <p className="approval-hint" data-hidden="true">
          <Glyph name="info" size={14} />
          <span>{hiding} It runs with what is there.</span>
        </p>
      )}
    </>
  );
}

function Entries({
  args,
  hidden,
}: {
  readonly args: JsonObject;
  readonly hidden: readonly string[];
}): ReactElement {
  const entries = Object.entries(args);
  if (entries.length === 0) return <p className="approval-hint">It takes no arguments.</p>;
  return (
    <dl className="approval-args">
      {entries.map(([name, value]) => (
        <div
          key={name}
          data-long={isLong(value) || undefined}
          data-hidden={isHiddenAt(hidden, name) || undefined}
        >
          <dt>{visibleName(name)}</dt>
          {isPlainText(value) ? (
            <dd>{visibleLines(value)}</dd>
          ) : (
            <dd data-json>{visibleLines(jsonText(value))}</dd>
          )}
        </div>
      ))}
    </dl>
  );
}
