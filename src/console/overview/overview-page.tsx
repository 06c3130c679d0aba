import type { ReactElement } from 'react';
import { countText } from '../../number-text.ts';
import type { Overview } from '../../server/api.ts';
import { Problem } from '../empty-state.tsx';
import { Glyph, type GlyphName } from '../glyphs.tsx';
import { PageTools } from '../page-tools.tsx';
import type { PageProps } from '../pages.ts';
import { go, pageHref } from '../route.ts';
import { useRead } from '../use-read.ts';
import { Bars } from './bars.tsx';
import { bucketText, Card, Costs, Errors, StepCard, type List } from './overview-cards.tsx';
// oxlint-disable-next-line import/no-unassigned-import -- the styles are loaded with the page
import './overview.css';

const ranges = ['1h', '12h', '14d'] as const;
const rangeText: Readonly<Record<string, string>> = {
  '1h': 'in 1 hour',
  '12h': 'in 12 hours',
  '14d': 'in 14 days',
};

/** Renders one line of what needs attention, and four charts from the records of runs. */
export function OverviewPage({ api, info, route }: PageProps): ReactElement {
  const params = new URLSearchParams(route.query);
  const range = ranges.find((one) => one === params.get('range')) ?? '12h';
  const scope = params.get('all') === '1' && info?.isOperator ? 'all' : 'own';
  const all = scope === 'all' ? '1' : '';
  const { value, problem, refresh } = useRead(
    `${range} ${scope}`,
    (signal) => api.overview(scope, { range, utcOffset: -new Date().getTimezoneOffset() }, signal),
    15_000,
  );
  return (
    <section className="page" aria-label="Overview" aria-busy={!value}>
      <PageTools>
        <span className="segments" role="group" aria-label="Time range">
          {ranges.map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === range}
              onClick={() => go(pageHref('overview', { query: { range: one, all } }), 'replace')}
            >
              {one}
            </button>
          ))}
        </span>
        {info?.isOperator && (
          <button
            type="button"
            className="page-mode"
            aria-pressed={scope === 'all'}
            onClick={() =>
              go(pageHref('overview', { query: { range, all: all ? '' : '1' } }), 'replace')
            }
          >
            <Glyph name="shield" size={13} />
            {scope === 'all' ? 'Admin: all owners' : 'Yours only'}
          </button>
        )}
      </PageTools>
      {problem && !value && (
        <Problem message={problem.message} code={problem.code} onRetry={refresh} />
      )}
      {!problem && !value && (
        <div className="skeleton overview-cards" aria-hidden="true">
          {[1, 2, 3, 4].map((one) => (
            <span key={one} className="overview-blank" />
          ))}
        </div>
      )}
      {value && <Charts overview={value} range={range} all={all} />}
    </section>
  );
}

interface ChartsProps {
  readonly overview: Overview;
  readonly range: string;
  readonly all: string;
}

function Charts({ overview, range, all }: ChartsProps): ReactElement {
  const { range: runs, isTruncated } = overview;
  const { finished, limited, failed, cancelled } = runs;
  const total = finished + limited + failed + cancelled;
  const list = (query: Readonly<Record<string, string>>): string =>
    pageHref('sessions', { query: { ...query, all } });
  const first = runs.buckets[0]?.at ?? '';
  const since = { updated: `${first}..` };
  const kinds = [
    ['finished', 'finished', finished, 'completed'],
    ['limited', 'reached a limit', limited, 'stopped'],
    ['cancelled', 'stopped by a user', cancelled, 'cancelled'],
    ['failed', 'failed', failed, 'failed'],
  ] as const;
  return (
    <>
      <AttentionLine overview={overview} list={list} />
      {isTruncated && <p className="muted">The charts count the newest 5,000 runs.</p>}
      <div className="overview-cards">
        <Card
          title={
            range === '14d'
              ? 'Runs per day'
              : range === '1h'
                ? 'Runs per 5 minutes'
                : 'Runs per hour'
          }
          link={[`View ${countText(total)} runs`, list(since)]}
          big={countText(total)}
          about={`${rangeText[range]}${total > 0 ? ` · ${Math.round((finished / total) * 100)}% finished` : ''}`}
          isEmpty={total === 0}
        >
          <Bars
            format={(value) => countText(Math.round(value * 10) / 10)}
            bars={runs.buckets.map((bucket, i) => ({
              label: bucketText(bucket, range),
              title: `${bucketText(bucket, range)}: ${kinds.map(([kind, words]) => `${words} ${bucket[kind]}`).join(', ')}`,
              href: list({ updated: `${bucket.at}..${runs.buckets[i + 1]?.at ?? ''}` }),
              parts: kinds.map(([kind]) => ({ kind, value: bucket[kind] })),
            }))}
          />
          <p className="chart-legend">
            {kinds.map(
              ([kind, words, count, status]) =>
                (count > 0 || kind !== 'cancelled') && (
                  <a key={kind} href={list({ ...since, status })}>
                    <i className="chart-part" data-kind={kind} />
                    {words} {countText(count)}
                  </a>
                ),
            )}
          </p>
        </Card>
        <Costs overview={overview} list={list} />
        <StepCard overview={overview} range={range} list={list} since={since} />
        <Errors overview={overview} list={list} />
      </div>
    </>
  );
}

const attentionKinds: readonly (readonly [
  keyof Overview['attention'],
  string,
  GlyphName,
  string,
])[] = [
  ['gaveUp', 'gave up', 'gaveUp', 'failed'],
  ['stuck', 'stuck', 'clock', 'processing'],
  ['failed', 'failed', 'failed', 'failed'],
  ['waiting', 'waiting over 1 h', 'paused', 'paused'],
];

function AttentionLine({
  overview,
  list,
}: {
  readonly overview: Overview;
  readonly list: List;
}): ReactElement {
  const shown = attentionKinds.filter(([kind]) => overview.attention[kind] > 0);
  return (
    <div className="attention-line">
      <h2>Needs attention</h2>
      {shown.length === 0 && <span className="muted">Nothing right now</span>}
      {shown.map(([kind, words, glyph, status]) => (
        <a key={kind} href={list({ attention: '1', status })} data-kind={kind}>
          <Glyph name={glyph} size={14} />
          <b>
            {overview.attention[kind] >= 100 ? '100+' : countText(overview.attention[kind])}
          </b>{' '}
          {words}
        </a>
      ))}
    </div>
  );
}
