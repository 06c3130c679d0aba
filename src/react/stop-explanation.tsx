import type { ReactElement } from 'react';
import type { GrantAllowance } from '../continuation/grant-allowance.ts';
import type { Grants } from '../continuation/grants.ts';
import type { SessionAction } from '../ui/sources/session-actions.ts';
import type { UiStop } from '../ui/ui-state.ts';
import { stopControl, stopText, type StopControl } from '../ui/stop-text.ts';
import { Glyph, statusGlyphs } from './glyph.tsx';
import type { AgentLabels } from './labels.ts';
import { part } from './part.ts';
import { Problem } from './problem.tsx';
import { useUi } from './ui-context.ts';

export interface StopExplanationProps {
  readonly stop: UiStop;
  /** What became of the grant or the retry, once one was given. */
  readonly action: SessionAction | null;
  /** Continues the run. Absent: the button is not shown. */
  readonly onResume?: (grant?: Grants) => unknown;
  /** Continues a parked session. Absent: the button to retry is not shown. */
  readonly onRetry?: () => unknown;
  /** What the user may still grant: the button offers no more. Null or absent: the remedy is unchanged. */
  readonly allowance?: GrantAllowance | null;
  readonly onDismiss?: (actionId: string) => void;
}

/** Renders why it stopped, how to continue, and a button that does exactly that. */
export function StopExplanation(props: StopExplanationProps): ReactElement {
  const { stop, action, allowance = null, onResume, onRetry, onDismiss } = props;
  const { labels } = useUi();
  const { status } = stop;
  const control = withinAllowance(stopControl(stop), allowance);
  const isSent = action?.status === 'pending' || action?.status === 'done';
  const press = control && pressOf(control, onResume, onRetry);
  const text = stopText(stop);
  const remedy = remedyOf(stop, control, labels) ?? text.remedy;
  return (
    <section {...part('stop')} data-status={status} aria-label={labels.status[status]}>
      <Glyph name={statusGlyphs[status]} />
      <div {...part('stop-body')}>
        <p {...part('stop-why')}>
          <strong>{text.title}</strong>
        </p>
        {text.reason !== '' && <p {...part('stop-error')}>{text.reason}</p>}
        {remedy && <p {...part('stop-remedy')}>{remedy}</p>}
        {action?.status === 'failed' && (
          <Problem action={action} {...(onDismiss && { onDismiss })} />
        )}
      </div>
      {press && (
        <button
          type="button"
          {...part('button')}
          data-kind="primary"
          aria-disabled={isSent}
          onClick={() => {
            if (!isSent) press();
          }}
        >
          <Glyph name="go" />
          {isSent ? labels.resuming : labelOf(control, labels)}
        </button>
      )}
    </section>
  );
}

/** `operator` where the user may not grant what is needed. */
type Control = StopControl | { readonly kind: 'operator' };

function withinAllowance(
  control: StopControl | null,
  allowance: GrantAllowance | null,
): Control | null {
  if (control?.kind !== 'grant' || !allowance) return control;
  return allowance.grant ? { kind: 'grant', grant: allowance.grant } : { kind: 'operator' };
}

function pressOf(
  control: Control,
  onResume: StopExplanationProps['onResume'],
  onRetry: StopExplanationProps['onRetry'],
): (() => unknown) | undefined {
  if (control.kind === 'operator') return undefined;
  if (control.kind === 'retry') return onRetry;
  return onResume && (() => (control.kind === 'grant' ? onResume(control.grant) : onResume()));
}

function labelOf(control: Control, labels: AgentLabels): string {
  if (control.kind === 'grant') return labels.grant(control.grant);
  return control.kind === 'retry' ? labels.retrySession : labels.resume;
}

/** What to do: the sentence of the explanation, unless the user may grant less or the labels have other words. */
function remedyOf(
  { status, explanation }: UiStop,
  control: Control | null,
  labels: AgentLabels,
): string | undefined {
  const [first] = explanation?.actions ?? [];
  if (status === 'completed') return first?.text;
  if (control?.kind === 'operator') return labels.operatorNeeded;
  if (control?.kind !== 'grant') return first?.text;
  const offered = explanation?.actions.find(({ kind }) => kind === 'grant')?.grant;
  const text = offered && isSame(offered, control.grant) ? first?.text : undefined;
  return first?.kind === 'wait' && first.until !== undefined
    ? labels.waitUntil(first.until, control.grant, text)
    : labels.toContinue(control.grant, text);
}

const isSame = (a: Grants, b: Grants): boolean =>
  (Object.keys({ ...a, ...b }) as (keyof Grants)[]).every((kind) => a[kind] === b[kind]);
