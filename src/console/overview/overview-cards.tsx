import type { ReactElement, ReactNode } from 'react';
import { countText, durationText, moneyText } from '../../number-text.ts';
import type { Overview } from '../../server/api.ts';
import type { RunBucket } from '../../sessions/run-statistics.ts';
import { clockText, dateText } from '../calendar.ts';
import { EmptyState } from '../empty-state.tsx';
import { Bars } from './bars.tsx';
import { StepTimes } from './step-times.tsx';

export type List = (query: Readonly<Record<string, string>>) => string;

export function Costs({
  overview,
  list,
}: {
  readonly overview: Overview;
  readonly list: List;
}): ReactElement {
  const { buckets, cost, models } = overview.days;
  const today = buckets.at(-1)?.cost ?? 0;
  const used = buckets.filter((bucket) => bucket.cost > 0).length;
  const [first] = models;
  const now = new Date();
  return (
    <Card
      title="Cost per day"
      link={['View by cost', list({ by: 'cost' })]}
      big={moneyText(today)}
      about={`today${used > 1 ? ` · ${moneyText(cost / buckets.length)} on average` : ''}`}
      isEmpty={cost === 0}
    >
      <Bars
        format={(value) => (value === 0 ? '$0' : `$${countText(value)}`)}
        bars={buckets.map((bucket, i) => ({
          label: i === buckets.length - 1 ? 'today' : dateText(new Date(bucket.at), now),
          title: `${dateText(new Date(bucket.at), now)}: ${moneyText(bucket.cost)}`,
          href: list({ updated: `${bucket.at}..${buckets[i + 1]?.at ?? ''}`, by: 'cost' }),
          parts: [{ kind: i === buckets.length - 1 ? 'finished' : 'past', value: bucket.cost }],
        }))}
      />
      {first && cost > 0 && (
        <p className="chart-note">
          {Math.round((first.cost / cost) * 100)}% of 14 days is <code>{first.model}</code>
        </p>
      )}
    </Card>
  );
}

export function StepCard({
  overview,
  range,
  list,
  since,
}: {
  readonly overview: Overview;
  readonly range: string;
  readonly list: List;
  readonly since: Readonly<Record<string, string>>;
}): ReactElement {
  const { buckets, p50, p95 } = overview.range;
  const slowest = buckets.reduce<RunBucket | null>(
    (most, bucket) => ((bucket.p95 ?? 0) > (most?.p95 ?? 0) ? bucket : most),
    null,
  );
  return (
    <Card
      title="Step time"
      link={['View by steps', list({ ...since, by: 'steps' })]}
      big={p50 === null ? '–' : durationText(p50)}
      about={p95 === null ? 'p50' : `p50 · ${durationText(p95)} p95`}
      isEmpty={p50 === null}
    >
      <StepTimes buckets={buckets} label={(bucket) => bucketText(bucket, range)} />
      {slowest && slowest.p95 !== null && (
        <p className="chart-note">
          Slowest: {bucketText(slowest, range)}, {durationText(slowest.p95)}
        </p>
      )}
    </Card>
  );
}

/** Tools that are shown. */
const MOST_TOOLS = 6;

export function Errors({
  overview,
  list,
}: {
  readonly overview: Overview;
  readonly list: List;
}): ReactElement {
  const { tools } = overview.range;
  const calls = tools.reduce((sum, tool) => sum + tool.calls, 0);
  const failed = tools.reduce((sum, tool) => sum + tool.failed, 0);
  const shareOf = (part: number, of: number): number => (of === 0 ? 0 : part / of);
  const shown = tools
    .toSorted((a, b) => shareOf(b.failed, b.calls) - shareOf(a.failed, a.calls))
    .slice(0, MOST_TOOLS);
  const most = Math.max(0.01, ...shown.map((tool) => shareOf(tool.failed, tool.calls)));
  return (
    <Card
      title="Errors by tool"
      link={['View runs with errors', list({ error: 'yes' })]}
      big={percent(shareOf(failed, calls))}
      about={`of ${countText(calls)} calls`}
      isEmpty={calls === 0}
    >
      <ul className="tool-errors">
        {shown.map(({ tool, calls: count, failed: bad }) => (
          <li key={tool}>
            <a href={list({ error: 'yes', q: tool, all: '' })}>
              <code>{tool}</code>
              <span className="tool-error-bar">
                <i style={{ width: `${(shareOf(bad, count) / most) * 100}%` }} />
              </span>
              <b>{percent(shareOf(bad, count))}</b>
              <span className="muted">
                {countText(bad)} of {countText(count)}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </Card>
  );
}

const percent = (share: number): string => `${countText(Math.round(share * 1000) / 10)}%`;

export function Card({
  title,
  link,
  big,
  about,
  isEmpty,
  children,
}: {
  readonly title: string;
  readonly link: readonly [text: string, href: string];
  readonly big: string;
  readonly about: string;
  readonly isEmpty: boolean;
  readonly children: ReactNode;
}): ReactElement {
  return (
    <section className="overview-card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {!isEmpty && <a href={link[1]}>{link[0]}</a>}
      </header>
      {isEmpty ? (
        <EmptyState glyph="overview" title="Nothing recorded yet">
          <p>Runs that ended before this version of the server are not counted.</p>
        </EmptyState>
      ) : (
        <>
          <p className="overview-big">
            <b>{big}</b> {about}
          </p>
          {children}
        </>
      )}
    </section>
  );
}

export function bucketText({ at }: RunBucket, range: string): string {
  const time = new Date(at);
  return range === '14d' ? dateText(time, new Date()) : clockText(time);
}
