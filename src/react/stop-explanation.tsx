import type { ReactElement } from 'react';
import type { GrantAllowance } from '../continuation/grant-allowance.ts';
import type { Grants } from '../continuation/grants.ts';
import type { SessionAction } from '../ui/sources/session-actions.ts';
import type { UiStop } from '../ui/ui-state.ts';
import { offeredGrant, stopText } from '../ui/stop-text.ts';
import { Glyph, statusGlyphs } from './glyph.tsx';
import { part } from './part.ts';
import { Problem } from './problem.tsx';
import { useUi } from './ui-context.ts';

export interface StopExplanationProps {
  readonly stop: UiStop;
  /** What became of the grant, once one was given. */
  readonly action: SessionAction | null;
  /** Absent: the button to continue is not shown. */
  readonly onResume?: (grant?: Grants) => unknown;
  /** What the user may still grant: the button offers no more. Null or absent: the remedy stands as it is. */
  readonly allowance?: GrantAllowance | null;
  readonly onDismiss?: (actionId: string) => void;
}

/** Why it stopped, how to continue, and a button that does exactly that. */
export function StopExplanation(props: StopExplanationProps): ReactElement {
  const { stop, action, allowance = null, onResume, onDismiss } = props;
  const { labels } = useUi();
  const { status, stop_reason: reason, resolved_by: decidedBy } = stop;
  const asked = offeredGrant(stop);
  const grant = asked && allowance ? (allowance.grant ?? undefined) : asked;
  const needsOperator = asked !== undefined && grant === undefined;
  const isSent = action?.status === 'pending' || action?.status === 'done';
  const canResume = onResume !== undefined && (grant !== undefined || status === 'paused');
  const text = stopText(stop);
  const remedy = needsOperator
    ? labels.operatorNeeded
    : grant && status !== 'completed'
      ? labels.toContinue(grant)
      : (stop.explanation?.actions[0]?.text ?? text.remedy);
  const option = stop.remedy?.option;
  return (
    <section {...part('stop')} data-status={status} aria-label={labels.status[status]}>
      <Glyph name={statusGlyphs[status]} />
      <div {...part('stop-body')}>
        <p {...part('stop-why')}>
          <strong>{text.title}</strong>
        </p>
        {text.reason !== '' && <p {...part('stop-error')}>{text.reason}</p>}
        {remedy && <p {...part('stop-remedy')}>{remedy}</p>}
        {reason !== null && status !== 'completed' && (
          <p {...part('stop-meta')}>
            <code>{reason}</code>
            {decidedBy !== null && <span>{labels.decidedBy(decidedBy)}</span>}
            {option !== undefined && <code>{option}</code>}
          </p>
        )}
        {action?.status === 'failed' && (
          <Problem action={action} {...(onDismiss && { onDismiss })} />
        )}
      </div>
      {canResume && (
        <button
          type="button"
          {...part('button')}
          data-kind="primary"
          aria-disabled={isSent}
          onClick={() => {
            if (!isSent) onResume(grant);
          }}
        >
          <Glyph name="go" />
          {isSent ? labels.resuming : grant ? labels.grant(grant) : labels.resume}
        </button>
      )}
    </section>
  );
}
