import { useId, useRef, useState, type ReactElement } from 'react';
import { isHiddenAt } from '../events/hidden-args.ts';
import type { JsonObject } from '../json.ts';
import type { SessionAction } from '../ui/sources/session-actions.ts';
import type { UiApproval } from '../ui/ui-state.ts';
import { visibleLines, visibleName } from '../visible-text.ts';
import { ApprovalEditor } from './approval-editor.tsx';
import { DenyForm } from './deny-form.tsx';
import { isCut } from '../ui/message-list.ts';
import { valueText } from './format.ts';
import { Glyph } from './glyph.tsx';
import { part } from './part.ts';
import { Problem } from './problem.tsx';
import { useUi } from './ui-context.ts';
import { ValueView } from './value-view.tsx';

export interface ApprovalViewProps {
  readonly approval: UiApproval;
  /** What became of the answer, once one was given. */
  readonly action: SessionAction | null;
  /** Absent: approving is not offered. */
  readonly onApprove?: (callId: string, args?: JsonObject) => unknown;
  /** Absent: denying is not offered. */
  readonly onDeny?: (callId: string, reason: string) => unknown;
  readonly onDismiss?: (actionId: string) => void;
}

type Mode = 'look' | 'edit' | 'deny';

/** A call that waits for a person: look at its arguments, change them, let it run or not. */
export function ApprovalView(props: ApprovalViewProps): ReactElement {
  const { approval, action, onApprove, onDeny, onDismiss } = props;
  const { labels } = useUi();
  const [mode, setMode] = useState<Mode>('look');
  const titleId = useId();
  const edit = useRef<HTMLButtonElement>(null);
  const deny = useRef<HTMLButtonElement>(null);
  const { tool_call_id: callId, args } = approval;
  const isSent = action?.status === 'pending' || action?.status === 'done';

  /** Back to where the form was opened: the next key press finds its place. */
  const leave = (from: typeof edit): void => {
    setMode('look');
    setTimeout(() => from.current?.focus());
  };

  return (
    <section {...part('approval')} aria-labelledby={titleId} data-sent={isSent || undefined}>
      <h3 id={titleId} tabIndex={-1} {...part('approval-title')}>
        <Glyph name="paused" />
        <span>{labels.approvalTitle(approval.tool)}</span>
      </h3>
      <p {...part('note')}>{labels.approvalHint}</p>
      {mode === 'edit' ? (
        <ApprovalEditor
          args={args as JsonObject} // editing is not offered for anything else
          onApprove={(edited) => {
            setMode('look');
            onApprove?.(callId, edited);
          }}
          onCancel={() => leave(edit)}
        />
      ) : (
        <Arguments approval={approval} />
      )}
      {mode === 'deny' && (
        <DenyForm
          onDeny={(reason) => {
            setMode('look');
            onDeny?.(callId, reason);
          }}
          onCancel={() => leave(deny)}
        />
      )}
      {action?.status === 'failed' && <Problem action={action} {...(onDismiss && { onDismiss })} />}
      {mode === 'look' && (
        <footer {...part('buttons')}>
          {isSent ? (
            <p {...part('note')} role="status">
              {action.status === 'done' ? labels.answered : labels.answering}
            </p>
          ) : (
            <>
              {onApprove && (
                <button
                  type="button"
                  {...part('button')}
                  data-kind="primary"
                  onClick={() => onApprove(callId)}
                >
                  {labels.approve}
                </button>
              )}
              {onApprove && isObject(args) && (
                <button
                  ref={edit}
                  type="button"
                  {...part('button')}
                  onClick={() => setMode('edit')}
                >
                  {labels.edit}
                </button>
              )}
              {onDeny && (
                <button
                  ref={deny}
                  type="button"
                  {...part('button')}
                  data-kind="danger"
                  onClick={() => setMode('deny')}
                >
                  {labels.deny}…
                </button>
              )}
            </>
          )}
        </footer>
      )}
    </section>
  );
}

const isObject = (args: UiApproval['args']): args is JsonObject =>
  typeof args === 'object' && args !== null && !Array.isArray(args) && !isCut(args);

/** Flat arguments read best as a list of names and values. */
function Arguments({ approval }: Pick<ApprovalViewProps, 'approval'>): ReactElement {
  const { labels } = useUi();
  const { args, hidden = [] } = approval;
  const entries = isObject(args) ? Object.entries(args) : null;
  const isNested = entries?.some(([, value]) => typeof value === 'object' && value !== null);
  return (
    <>
      {!entries || isNested ? (
        <ValueView value={args} label={labels.toolArgs} />
      ) : entries.length === 0 ? (
        <p {...part('note')}>{`${labels.toolArgs}: ${labels.none}`}</p>
      ) : (
        <dl {...part('fields')}>
          {entries.map(([name, value]) => (
            <div key={name} data-hidden={isHiddenAt(hidden, name) || undefined}>
              <dt>{visibleName(name)}</dt>
              <dd>{visibleLines(valueText(value))}</dd>
            </div>
          ))}
        </dl>
      )}
      {hidden.length > 0 && (
        <p {...part('note')} data-hidden="true">
          {labels.hiddenArgs(hidden)}
        </p>
      )}
    </>
  );
}
