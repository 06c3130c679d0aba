import type { ReactElement } from 'react';
import type { ContinuationEvaluation } from '../../continuation/evaluation.ts';
import { isCustomVoice } from './built-in-voices.ts';
import { CodeName } from './code-name.tsx';
import { MeterView } from './meter-view.tsx';
import { meterOf, meterTexts, type Meter } from './voice-meter.ts';

/** One criterion: its name, its numbers, its reason as recorded. */
export function Voice({
  evaluation,
  isDecisive,
}: {
  readonly evaluation: ContinuationEvaluation;
  readonly isDecisive: boolean;
}): ReactElement {
  const meter = meterOf(evaluation);
  return (
    <li
      className="voice"
      data-decisive={isDecisive || undefined}
      data-warns={meter?.tone === 'warn' || undefined}
    >
      <span className="voice-name">
        <CodeName name={evaluation.criterion} />
        {isCustomVoice(evaluation.criterion) && <span className="voice-custom">custom</span>}
      </span>
      {meter && <MeterNumbers meter={meter} />}
      <p>{evaluation.reason}</p>
    </li>
  );
}

function MeterNumbers({ meter }: { readonly meter: Meter }): ReactElement {
  const [used, limit] = meterTexts(meter);
  return (
    <span className="voice-meter">
      <MeterView {...meter} />
      <b>{used}</b>
      <span aria-hidden="true">/</span>
      <span className="visually-hidden"> of </span>
      <span>{limit}</span>
    </span>
  );
}
