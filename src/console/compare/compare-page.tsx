import { useEffect, useState, type ReactElement } from 'react';
import type { Comparison } from '../../trace/index.ts';
import type { SessionSummary } from '../../server/api.ts';
import { Glyph } from '../glyphs.tsx';
import { PageTools } from '../page-tools.tsx';
import type { PageProps } from '../pages.ts';
import { Problem, Skeleton } from '../payloads/pane-states.tsx';
import { usePayload } from '../payloads/use-payload.ts';
import { go, pageHref, traceHref } from '../route.ts';
import { useKeys } from '../use-keys.ts';
import { ComparisonView } from './comparison-view.tsx';
import { DifferenceView, differenceText } from './difference-view.tsx';
// oxlint-disable-next-line import/no-unassigned-import -- styles of what is loaded on demand
import '../payloads/payloads.css';
// oxlint-disable-next-line import/no-unassigned-import -- styles of what is loaded on demand
import './compare.css';

/** Renders two runs beside each other: `#/compare?left=…&right=…`, with `leftRun` and `rightRun` to choose runs. */
export function ComparePage({ api, route }: PageProps): ReactElement {
  const params = new URLSearchParams(route.query);
  const left = params.get('left') ?? '';
  const right = params.get('right') ?? '';
  const hasBoth = left !== '' && right !== '';
  const [isChoosing, setChoosing] = useState(!hasBoth);
  useKeys({
    n: () => document.querySelector<HTMLElement>('[data-key="difference"]')?.focus(),
  });
  return (
    <section className="page compare-page" aria-label="Compare">
      <PageTools>
        <button
          type="button"
          className="button button-small"
          aria-expanded={isChoosing}
          onClick={() => setChoosing(!isChoosing)}
        >
          Choose runs…
        </button>
      </PageTools>
      {isChoosing && <Chooser api={api} left={left} right={right} />}
      {hasBoth ? (
        <Compared key={route.query} api={api} params={params} />
      ) : (
        <p className="muted">Choose two sessions to see where their runs part, and why.</p>
      )}
    </section>
  );
}

function Compared({
  api,
  params,
}: {
  readonly api: PageProps['api'];
  readonly params: URLSearchParams;
}): ReactElement {
  const query = {
    left: params.get('left'),
    right: params.get('right'),
    leftExecution: params.get('leftRun'),
    rightExecution: params.get('rightRun'),
  };
  const { value, problem, retry } = usePayload(JSON.stringify(query), (signal) =>
    api.read<Comparison>('/compare', query, signal),
  );
  if (problem)
    return (
      <Problem
        message={
          problem.isNotFound
            ? 'One of the sessions does not exist, or it is not yours.'
            : problem.message
        }
        onRetry={retry}
      />
    );
  if (value === null) return <Skeleton />;
  const { left, right, same, difference, rows, kind, hasMore } = value;
  const isFork = kind === 'fork';
  return (
    <ComparisonView
      left={left}
      right={right}
      names={isFork ? ['Original', `Fork after step ${same.shared}`] : ['First run', 'Second run']}
      hrefs={[
        traceHref(left.sessionId, null, left.executionId),
        traceHref(right.sessionId, null, right.executionId),
      ]}
      same={same}
      sameText={`${same.steps === 1 ? 'Step 1 is' : `Steps 1–${same.steps} are`} identical`}
      differenceText={difference && differenceText(difference)}
      rows={rows}
      note={
        <>
          {difference === null && (
            <p className="compare-none">
              <Glyph name="done" size={14} /> Both runs did the same, step by step.
            </p>
          )}
          {hasMore && <p className="muted">The first 200 steps of each run are compared.</p>}
        </>
      }
    >
      {difference && <DifferenceView difference={difference} />}
    </ComparisonView>
  );
}

/** Renders two lists of the newest sessions. */
function Chooser({
  api,
  left,
  right,
}: {
  readonly api: PageProps['api'];
  readonly left: string;
  readonly right: string;
}): ReactElement {
  const [sessions, setSessions] = useState<readonly SessionSummary[]>([]);
  const [chosen, setChosen] = useState({ left, right });
  useEffect(() => {
    const controller = new AbortController();
    api
      .sessions({ limit: 100 }, controller.signal)
      .then((page) => setSessions(page.sessions))
      .catch(() => {}); // the frame says that the server is away
    return () => controller.abort();
  }, [api]);
  const isReady = chosen.left !== '' && chosen.right !== '';
  return (
    <form
      className="compare-chooser"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) go(pageHref('compare', { query: chosen }));
      }}
    >
      {(['left', 'right'] as const).map((side) => (
        <label key={side}>
          <span>{side === 'left' ? 'First' : 'Second'}</span>
          <select
            value={chosen[side]}
            onChange={({ target }) => setChosen({ ...chosen, [side]: target.value })}
          >
            <option value="">Choose a session</option>
            {sessions.map(({ id, title, reason }) => (
              <option key={id} value={id}>
                {title ?? 'Untitled'} · {reason}
              </option>
            ))}
          </select>
        </label>
      ))}
      <button type="submit" className="button button-primary" aria-disabled={!isReady || undefined}>
        Compare
      </button>
    </form>
  );
}
