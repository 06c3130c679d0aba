import { useState, type ReactElement } from 'react';
import { counted, countText, durationText } from '../../number-text.ts';
import type { ParkedSession } from '../../sessions/session-operator.ts';
import type { QueueView } from '../../sessions/queue-view.ts';
import type { WorkerView } from '../../sessions/worker-view.ts';
import type { Api, ListedSession } from '../api-client.ts';
import { EmptyState, Problem } from '../empty-state.tsx';
import { Glyph } from '../glyphs.tsx';
import { PageTools } from '../page-tools.tsx';
import type { PageProps } from '../pages.ts';
import { traceHref } from '../route.ts';
import { useRead } from '../use-read.ts';
import { WorkerTable } from './worker-table.tsx';
// oxlint-disable-next-line import/no-unassigned-import -- the styles are loaded with the page
import './workers.css';

interface WorkState {
  readonly workers: readonly WorkerView[];
  readonly queue: QueueView;
  readonly parked: readonly ParkedSession[];
  readonly open: readonly ListedSession[];
  readonly at: number;
}

/** Waiting sessions that are shown. */
const MOST_WAITING = 50;

async function readWork(api: Api, signal: AbortSignal): Promise<WorkState> {
  const [{ workers }, queue, parked, open] = await Promise.all([
    api.workers(signal),
    api.queue(signal),
    api.parked(signal),
    api.list('all', { phase: 'open', order: 'asc', limit: MOST_WAITING }, signal),
  ]);
  return { workers, queue, parked: parked.sessions, open: open.sessions, at: Date.now() };
}

/** Renders what gave up, the workers, and what waits for them. For operators. */
export function WorkersPage(props: PageProps): ReactElement {
  const { info } = props;
  if (info && !info.isOperator)
    return (
      <EmptyState glyph="workers" title="Only for operators">
        <p>
          The workers run the sessions of all owners. The server admits operators with its option{' '}
          <code>admin</code>.
        </p>
      </EmptyState>
    );
  return <Work {...props} />;
}

function Work({ api, info }: PageProps): ReactElement {
  const { value, problem, refresh } = useRead('work', (signal) => readWork(api, signal), 3_000);
  return (
    <section className="page workers-page" aria-label="Workers" aria-busy={!value}>
      <PageTools>
        <span className="workers-live" data-live={problem === null}>
          {problem === null ? 'Live' : 'Not connected'}
        </span>
      </PageTools>
      {problem && !value && (
        <Problem message={problem.message} code={problem.code} onRetry={refresh} />
      )}
      {!problem && !value && (
        <div className="skeleton" aria-hidden="true">
          <span style={{ height: 64 }} />
          <span style={{ width: '40%' }} />
          <span />
          <span />
        </div>
      )}
      {value && (
        <>
          <Numbers {...value} />
          {value.parked.length > 0 && (
            <GaveUp
              parked={value.parked}
              owner={info?.owner ?? null}
              api={api}
              onChange={refresh}
            />
          )}
          <WorkerTable {...value} />
          <Queue {...value} />
        </>
      )}
    </section>
  );
}

function Numbers({ workers, queue }: WorkState): ReactElement {
  const alive = workers.filter(({ status }) => status !== 'lost').length;
  const numbers: readonly (readonly [string, string, string])[] = [
    ['Workers', countText(alive), `of ${countText(workers.length)} responding`],
    ['Queue', countText(queue.waiting), queue.waiting === 1 ? 'session' : 'sessions'],
    [
      'Oldest waiting',
      queue.oldestWaitingMs === null ? '–' : durationText(queue.oldestWaitingMs),
      '',
    ],
    ['Working', countText(queue.active), `${countText(queue.recovered)} recovered`],
    ['Gave up', countText(queue.parked), ''],
  ];
  return (
    <dl className="work-numbers">
      {numbers.map(([name, number, about]) => (
        <div key={name} data-bad={name === 'Gave up' && queue.parked > 0}>
          <dt>{name}</dt>
          <dd>
            <b>{number}</b> {about}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function GaveUp({
  parked,
  owner,
  api,
  onChange,
}: {
  readonly parked: readonly ParkedSession[];
  readonly owner: string | null;
  readonly api: Api;
  readonly onChange: () => void;
}): ReactElement {
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const act = async (action: 'retry' | 'delete', ids: readonly string[]): Promise<void> => {
    setBusy(true);
    try {
      const { skipped } = await api.bulk('all', action, ids.slice(0, 100));
      setProblem(skipped[0]?.message ?? null);
    } catch (thrown) {
      setProblem(thrown instanceof Error ? thrown.message : String(thrown));
    }
    setBusy(false);
    onChange();
  };
  return (
    <section aria-label="Gave up">
      <header className="work-head">
        <h2>Gave up</h2>
        <span>Tried too often without progress, then set aside. Nothing runs until you retry.</span>
        {parked.length > 1 && (
          <button
            type="button"
            className="button button-small"
            disabled={busy}
            onClick={() =>
              void act(
                'retry',
                parked.map(({ id }) => id),
              )
            }
          >
            <Glyph name="reload" size={12} />
            {parked.length === 2 ? 'Retry both' : `Retry ${countText(parked.length)}`}
          </button>
        )}
      </header>
      {problem !== null && (
        <p className="work-problem" role="alert">
          {problem}
        </p>
      )}
      <ul className="gave-up">
        {parked.map((session) => (
          <GaveUpItem
            key={session.id}
            session={session}
            isOwn={session.owner === owner}
            isBusy={busy}
            onAct={(action) => void act(action, [session.id])}
          />
        ))}
      </ul>
    </section>
  );
}

function GaveUpItem({
  session,
  isOwn,
  isBusy,
  onAct,
}: {
  readonly session: ParkedSession;
  readonly isOwn: boolean;
  readonly isBusy: boolean;
  readonly onAct: (action: 'retry' | 'delete') => void;
}): ReactElement {
  const { id, owner, agent, error, tries, deaths, parkedAt, lastRetry } = session;
  const [isAsking, setAsking] = useState(false);
  return (
    <li>
      <Glyph name="gaveUp" size={14} />
      <div>
        <p>
          <b className="mono">{id}</b>{' '}
          <span className="muted">
            <bdi>{agent}</bdi> · <bdi>{owner}</bdi> · {counted(tries, 'attempt')}
            {deaths > 0 && `, ${counted(deaths, 'lost worker')}`} · last{' '}
            {new Date(parkedAt).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}
            {lastRetry && ` · retried before${lastRetry.by === null ? '' : ` by ${lastRetry.by}`}`}
          </span>
        </p>
        <pre>{error ?? 'No reason was recorded.'}</pre>
      </div>
      <div className="gave-up-actions">
        {isAsking ? (
          <>
            <button
              type="button"
              className="button button-danger"
              disabled={isBusy}
              onClick={() => onAct('delete')}
            >
              Delete with all data
            </button>
            <button type="button" className="button" autoFocus onClick={() => setAsking(false)}>
              Keep
            </button>
          </>
        ) : (
          <>
            <button
              type="button"
              className="button"
              disabled={isBusy}
              onClick={() => onAct('retry')}
            >
              <Glyph name="reload" size={12} />
              Retry
            </button>
            {isOwn && (
              <a className="button button-ghost" href={traceHref(id)}>
                View trace
              </a>
            )}
            <button
              type="button"
              className="button button-ghost button-danger"
              disabled={isBusy}
              onClick={() => setAsking(true)}
            >
              Discard…
            </button>
          </>
        )}
      </div>
    </li>
  );
}

/** Renders open sessions, the one that has waited longest first. */
function Queue({ open, queue, at }: WorkState): ReactElement {
  return (
    <section aria-label="Queue">
      <header className="work-head">
        <h2>Queue</h2>
        <span>
          {countText(queue.waiting)} waiting, {countText(queue.active)} working
        </span>
      </header>
      {open.length === 0 ? (
        <p className="muted">Nothing waits, and nothing runs.</p>
      ) : (
        <ol className="work-queue">
          {open.map(({ id, agent, owner, reason, updatedAt, attention }) => (
            <li key={id} data-attention={attention ?? undefined}>
              <code>{id}</code>
              <span className="muted">
                <bdi>{agent}</bdi> · <bdi>{owner}</bdi> · {reason}
              </span>
              <time dateTime={updatedAt}>
                {durationText(Math.max(0, at - Date.parse(updatedAt)))}
              </time>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
