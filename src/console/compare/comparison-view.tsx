import type { ReactElement, ReactNode } from 'react';
import { statusGlyphs } from '../../react/glyph.tsx';
import { countText, durationText, moneyText } from '../../number-text.ts';
import type { ComparedRow, ComparedRun, ComparedSame, ComparedStep } from '../../trace/index.ts';
import { Glyph } from '../glyphs.tsx';

export interface ComparisonViewProps {
  readonly left: ComparedRun;
  readonly right: ComparedRun;
  /** What the two sides are, such as `Original` and `Fork after step 3`. */
  readonly names: readonly [left: string, right: string];
  /** Where a side opens; null without a link. */
  readonly hrefs?: readonly [left: string | null, right: string | null];
  readonly same: ComparedSame | null;
  /** Such as `Steps 1–3 are identical`. */
  readonly sameText: string;
  /** Such as `First difference: step 4, the model’s response`; null without a difference. */
  readonly differenceText: string | null;
  readonly rows: readonly ComparedRow[];
  /** Shown in place of a step that one side did not run; absent: nothing. */
  readonly ghost?: string;
  /** Shown below the first row: both sides and the cause. */
  readonly children?: ReactNode;
  /** Shown at the end, such as what would be missing. */
  readonly note?: ReactNode;
}

/** Renders two runs beside each other: summaries, the first difference, then step against step. */
export function ComparisonView(props: ComparisonViewProps): ReactElement {
  const { left, right, names, hrefs, same, rows, ghost, children, note } = props;
  const longest = Math.max(
    1,
    ...rows.flatMap((row) => [row.left?.durationMs ?? 0, row.right?.durationMs ?? 0]),
  );
  const [first, ...others] = rows;
  return (
    <div className="compare">
      <div className="compare-row compare-runs">
        <RunSummary name={names[0]} run={left} href={hrefs?.[0] ?? null} />
        <span />
        <RunSummary name={names[1]} run={right} href={hrefs?.[1] ?? null} before={left} />
      </div>
      {same && same.steps > 0 && (
        <p className="compare-same">
          <span>{props.sameText}</span>
          <span className="muted">
            {durationText(same.durationMs)}
            {same.cost !== null && same.cost > 0 && ` · ${moneyText(same.cost)}`}
            {same.isShared && ' · shared, charged once'}
          </span>
        </p>
      )}
      {props.differenceText !== null && (
        <h2 className="compare-first" data-key="difference" tabIndex={-1}>
          <span>
            <Glyph name="differs" size={14} />
            {props.differenceText}
          </span>
        </h2>
      )}
      {first && <Pair row={first} longest={longest} ghost={ghost} isFirst />}
      {children}
      {others.map((row, i) => (
        <Pair
          key={row.left?.number ?? row.right?.number ?? i}
          row={row}
          longest={longest}
          ghost={ghost}
        />
      ))}
      {rows.length > 0 && (
        <div className="compare-row compare-ends">
          <Ending run={left} />
          <span />
          <Ending run={right} />
        </div>
      )}
      {note}
    </div>
  );
}

function RunSummary({
  name,
  run,
  href,
  before,
}: {
  readonly name: string;
  readonly run: ComparedRun;
  readonly href: string | null;
  readonly before?: ComparedRun;
}): ReactElement {
  const title = run.title ?? 'Untitled';
  const { steps, seconds, tokens, cost } = run;
  return (
    <section className="compare-run" aria-label={name}>
      <p className="compare-name">{name}</p>
      <h2 dir="auto">{href === null ? title : <a href={href}>{title}</a>}</h2>
      <p className="compare-status">
        <Glyph name={statusGlyphs[run.status]} size={14} />
        <span>{run.ending ?? run.status}</span>
      </p>
      <dl>
        <Fact
          name="Steps"
          value={countText(steps)}
          delta={before && signed(steps - before.steps, countText)}
        />
        <Fact
          name="Worked"
          value={durationText(seconds * 1000)}
          delta={before && signed((seconds - before.seconds) * 1000, durationText)}
        />
        <Fact
          name="Tokens"
          value={countText(tokens)}
          delta={before && percent(before.tokens, tokens)}
        />
        <Fact
          name="Cost"
          value={cost === null ? 'unknown' : moneyText(cost)}
          delta={
            before && before.cost !== null && cost !== null
              ? signed(cost - before.cost, moneyText)
              : undefined
          }
        />
      </dl>
    </section>
  );
}

function Fact({
  name,
  value,
  delta,
}: {
  readonly name: string;
  readonly value: string;
  readonly delta?: string | undefined;
}): ReactElement {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <b>{value}</b>
        {delta !== undefined && <span className="muted">{delta}</span>}
      </dd>
    </div>
  );
}

function signed(by: number, text: (value: number) => string): string {
  if (Math.abs(by) < 1e-9) return 'same';
  return `${by > 0 ? '+' : '−'}${text(Math.abs(by))}`;
}

function percent(before: number, after: number): string {
  if (before === after) return 'same';
  if (before === 0) return `+${countText(after)}`;
  const share = Math.round(((after - before) / before) * 100);
  return share === 0 ? signed(after - before, countText) : signed(share, (value) => `${value}%`);
}

function Pair({
  row,
  longest,
  ghost,
  isFirst = false,
}: {
  readonly row: ComparedRow;
  readonly longest: number;
  readonly ghost: string | undefined;
  readonly isFirst?: boolean;
}): ReactElement {
  const differs = !row.isSame && row.left && row.right;
  return (
    <div className="compare-row" data-first={isFirst || undefined}>
      <StepCell step={row.left} longest={longest} ghost={ghost} />
      <span className="compare-sign">
        {differs && (
          <>
            <span aria-hidden="true">≠</span>
            <span className="visually-hidden">differs from</span>
          </>
        )}
      </span>
      <StepCell step={row.right} longest={longest} ghost={ghost} />
    </div>
  );
}

function StepCell({
  step,
  longest,
  ghost,
}: {
  readonly step: ComparedStep | null;
  readonly longest: number;
  readonly ghost: string | undefined;
}): ReactElement {
  if (!step) return ghost === undefined ? <span /> : <div className="compare-ghost">{ghost}</div>;
  const { number, tools, durationMs, toolMs, hasFailed, type } = step;
  const modelMs = Math.max(0, durationMs - toolMs);
  return (
    <div className="compare-step" data-failed={hasFailed || undefined}>
      <p>
        <b>
          <span className="visually-hidden">Step </span>
          {number}
        </b>
        <span className="compare-tools">
          {tools.map(({ name, count }) => (
            <span key={name}>
              <code>{name}</code>
              {count > 1 && ` ×${count}`}
            </span>
          ))}
          {tools.length === 0 &&
            (type === 'error' ? 'the model call failed' : 'answered, no tools')}
          {hasFailed && tools.length > 0 && <b className="compare-failed">failed</b>}
        </span>
        <span className="muted">{durationText(durationMs)}</span>
      </p>
      <div className="compare-bar" aria-hidden="true">
        <i data-kind="model" style={{ width: `${(modelMs / longest) * 100}%` }} />
        <i data-kind="tool" style={{ width: `${(toolMs / longest) * 100}%` }} />
      </div>
    </div>
  );
}

function Ending({ run }: { readonly run: ComparedRun }): ReactElement {
  return (
    <p className="compare-status">
      <Glyph name={statusGlyphs[run.status]} size={14} />
      <span>{run.ending ?? run.status}</span>
    </p>
  );
}
