/// <reference types="vite/client" />
import { useState, type ReactElement } from 'react';
import { EmptyState, Problem } from '../empty-state.tsx';
import { Glyph } from '../glyphs.tsx';
import { PageTools } from '../page-tools.tsx';
import type { PageProps } from '../pages.ts';
import { go, pageHref } from '../route.ts';
import type { LimitName } from './limit-fields.ts';
import { LimitsPanel } from './limits-panel.tsx';
import { RunTable } from './run-table.tsx';
import { useReplays } from './use-replays.ts';
import { isShown, limitsIn, sumsOf, type Shown, type WhatIfSums } from './what-if-text.ts';
// oxlint-disable-next-line import/no-unassigned-import -- the styles load with the page
import './what-if.css';

const counts = [10, 25, 50] as const;

/** Renders what other limits would have changed in recorded runs. It never changes an agent. */
export function WhatIfPage({ api, info, route }: PageProps): ReactElement {
  const params = new URLSearchParams(route.query);
  const limits = limitsIn(params);
  const errorPolicy = params.get('errorPolicy') ?? '';
  const agent = params.get('agent') ?? '';
  const count = counts.find((one) => String(one) === params.get('last')) ?? 50;
  const [shown, setShown] = useState<Shown>('all');
  const [tries, setTries] = useState(0);
  const query = JSON.stringify({
    ...limits,
    ...(errorPolicy !== '' && { errorPolicy }),
    ...(agent !== '' && { agent }),
  });
  const { replays, problem, isBusy, tookMs } = useReplays(api, query, count, tries);
  const change = (more: Readonly<Record<string, string | number | null>>): void =>
    go(pageHref('what-if', { query: { ...Object.fromEntries(params), ...more } }), 'replace');
  const rows = (replays ?? []).filter((replay) => isShown(replay, shown));
  const sums = sumsOf(replays ?? []);
  return (
    <section className="page what-if" aria-label="What if" aria-busy={isBusy}>
      <PageTools>
        {tookMs !== null && !isBusy && (
          <span className="what-if-took muted">Judged in {Math.max(1, Math.round(tookMs))} ms</span>
        )}
      </PageTools>
      <LimitsPanel
        replays={replays ?? []}
        limits={limits}
        errorPolicy={errorPolicy}
        onLimit={(name: LimitName, value) => change({ [name]: value })}
        onErrorPolicy={(name) => change({ errorPolicy: name })}
        onReset={() =>
          go(pageHref('what-if', { query: { agent, last: params.get('last') } }), 'replace')
        }
      />
      <div className="what-if-runs">
        <div className="what-if-which">
          <label>
            Last{' '}
            <select value={count} onChange={({ target }) => change({ last: target.value })}>
              {counts.map((one) => (
                <option key={one} value={one}>
                  {one} runs
                </option>
              ))}
            </select>
          </label>
          <label>
            of{' '}
            <select value={agent} onChange={({ target }) => change({ agent: target.value })}>
              <option value="">all agents</option>
              {info?.agents.map(({ name, title }) => (
                <option key={name} value={name}>
                  {title}
                </option>
              ))}
            </select>
          </label>
        </div>
        {problem !== null && (
          <Problem
            message={problem.message}
            code={problem.code}
            onRetry={() => setTries(tries + 1)}
          />
        )}
        {problem === null && replays !== null && replays.length === 0 && (
          <EmptyState
            glyph="whatIf"
            title="No recorded runs"
            action={
              <a className="button" href={pageHref('sessions')}>
                View sessions
              </a>
            }
          >
            <p>Limits are tried on runs you already have. Once a run has ended, it is here.</p>
          </EmptyState>
        )}
        {problem === null && replays !== null && replays.length > 0 && (
          <>
            <Sums sums={sums} />
            <Filter sums={sums} shown={shown} onShow={setShown} />
            <RunTable replays={rows} />
            {rows.length === 0 && <p className="muted">No run would change this way.</p>}
          </>
        )}
      </div>
    </section>
  );
}

function Sums({ sums }: { readonly sums: WhatIfSums }): ReactElement {
  return (
    <div role="status">
      <dl className="what-if-sums">
        <div>
          <dt>would stop earlier</dt>
          <dd>{sums.earlier}</dd>
          <dd className="muted">{sums.savedText}</dd>
        </div>
        <div data-warn={sums.cutShort > 0}>
          <dt>finished runs cut short</dt>
          <dd>
            {sums.cutShort > 0 && <Glyph name="info" size={16} />} {sums.cutShort}
          </dd>
          <dd className="muted">
            {sums.cutShort > 0 ? 'Their answers would be lost' : 'No answer would be lost'}
          </dd>
        </div>
        <div>
          <dt>would keep going</dt>
          <dd>{sums.further}</dd>
          <dd className="muted">Unknown past the recording</dd>
        </div>
        <div>
          <dt>stay the same</dt>
          <dd>{sums.same}</dd>
          <dd className="muted">{sums.other > 0 ? `${sums.other} for another reason` : ''}</dd>
        </div>
      </dl>
    </div>
  );
}

function Filter({
  sums,
  shown,
  onShow,
}: {
  readonly sums: WhatIfSums;
  readonly shown: Shown;
  readonly onShow: (shown: Shown) => void;
}): ReactElement {
  const filters: readonly (readonly [Shown, string, number])[] = [
    ['changed', 'Changed', sums.earlier + sums.further + sums.other],
    ['cut_short', 'Cut short', sums.cutShort],
    ['further', 'Keep going', sums.further],
    ['all', 'All', sums.all],
  ];
  return (
    <div className="what-if-filter">
      <div role="group" aria-label="Runs to show">
        {filters.map(([name, text, number]) => (
          <button
            key={name}
            type="button"
            className="button"
            aria-pressed={shown === name}
            onClick={() => onShow(name)}
          >
            {text} {number}
          </button>
        ))}
      </div>
      <p className="what-if-legend muted" aria-hidden="true">
        <span>
          <i data-kept="true" /> step
        </span>
        <span>
          <i data-kept="true" data-cut="true" /> would stop
        </span>
        <span>
          <i data-kept="false" /> not run
        </span>
        <span>→ not recorded</span>
      </p>
    </div>
  );
}
