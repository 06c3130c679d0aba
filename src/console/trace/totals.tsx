import type { ReactElement } from 'react';
import type { Trace } from '../../trace/trace.ts';
import { MeterView } from './meter-view.tsx';
import { counted, countText, durationText, exactMoneyText, moneyText } from '../../number-text.ts';
import { meterTexts, type Meter, type MeterUnit } from './limit-meter.ts';

/** Renders what was used of each limit, and what was not counted. */
export function Totals({ trace }: { readonly trace: Trace }): ReactElement {
  const { totals, grants } = trace;
  const { steps, seconds, tokens, cost, failedCalls, pausedMs } = totals;
  const unpriced =
    cost.limit === null
      ? 'a price is not known'
      : 'a price is not known, so the limit is not enforced';
  return (
    <dl className="trace-totals">
      <Total
        name="Steps"
        used={steps.used}
        limit={steps.limit}
        unit="count"
        notes={[
          failedCalls > 0 && `${counted(failedCalls, 'failed call')} not counted`,
          grants.steps !== undefined && `${countText(grants.steps)} more allowed`,
        ]}
      />
      <Total
        name="Worked"
        used={seconds.used}
        limit={seconds.limit}
        unit="seconds"
        notes={[
          pausedMs > 0 && `${durationText(pausedMs)} paused, not counted`,
          grants.seconds !== undefined && `${countText(grants.seconds)} s more allowed`,
        ]}
      />
      <Total
        name="Tokens"
        used={tokens.used}
        limit={tokens.limit}
        unit="count"
        notes={[
          `${countText(totals.inputTokens)} in · ${countText(totals.outputTokens)} out`,
          grants.tokens !== undefined && `${countText(grants.tokens)} more allowed`,
        ]}
      />
      <Total
        name="Cost"
        used={cost.used}
        limit={cost.limit}
        unit="money"
        notes={[
          cost.used === null && unpriced,
          grants.cost !== undefined && `${exactMoneyText(grants.cost)} more allowed`,
        ]}
      />
    </dl>
  );
}

interface TotalProps {
  readonly name: string;
  readonly used: number | null;
  readonly limit: number | null;
  readonly unit: MeterUnit;
  readonly notes: readonly (string | false)[];
}

function Total({ name, used, limit, unit, notes }: TotalProps): ReactElement {
  const meter: Meter | null =
    limit === null
      ? null
      : { used, limit, unit, tone: used !== null && used >= limit ? 'full' : 'plain' };
  const [usedText, limitText] = meter ? meterTexts(meter) : [alone(used, unit), null];
  return (
    <div className="trace-total">
      <dt>{name}</dt>
      <dd className="trace-total-number">
        <b>{usedText}</b>
        {limitText !== null && (
          <span>
            <span aria-hidden="true"> / </span>
            <span className="visually-hidden"> of </span>
            {limitText}
          </span>
        )}
      </dd>
      <dd className="trace-total-more">
        {meter && <MeterView {...meter} />}
        {notes.map(
          (note) =>
            note !== false && (
              <span key={note} className="trace-total-note">
                {note}
              </span>
            ),
        )}
      </dd>
    </div>
  );
}

function alone(used: number | null, unit: MeterUnit): string {
  if (used === null) return 'unknown';
  if (unit === 'seconds') return durationText(used * 1000);
  return unit === 'money' ? moneyText(used) : countText(used);
}
