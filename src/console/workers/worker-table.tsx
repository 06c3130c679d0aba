import type { ReactElement } from 'react';
import { counted, countText, durationText } from '../../number-text.ts';
import type { WorkerView } from '../../sessions/worker-view.ts';
import { Glyph, type GlyphName } from '../glyphs.tsx';

const workerGlyphs: Readonly<Record<WorkerView['status'], GlyphName>> = {
  busy: 'working',
  idle: 'idle',
  draining: 'cancelled',
  lost: 'failed',
};

const workerWords: Readonly<Record<WorkerView['status'], string>> = {
  busy: 'working',
  idle: 'idle',
  draining: 'finishing, takes nothing more',
  lost: 'not responding',
};

/** Renders the workers of all processes. */
export function WorkerTable({
  workers,
  at,
}: {
  readonly workers: readonly WorkerView[];
  readonly at: number;
}): ReactElement {
  return (
    <section aria-label="All workers">
      <header className="work-head">
        <h2>Workers</h2>
      </header>
      {workers.length === 0 ? (
        <p className="muted">No worker has reported in the last hour.</p>
      ) : (
        <table className="workers-table">
          <thead>
            <tr>
              <th scope="col">Worker</th>
              <th scope="col">Agents</th>
              <th scope="col">Sessions</th>
              <th scope="col">Last seen</th>
              <th scope="col">Up</th>
            </tr>
          </thead>
          <tbody>
            {workers.map((worker) => (
              <tr key={worker.id} data-status={worker.status}>
                <td>
                  <Glyph name={workerGlyphs[worker.status]} size={14} />
                  <span>
                    <code>{worker.id}</code>
                    <span className="muted">
                      {workerWords[worker.status]}
                      {worker.host !== null && ` · ${worker.host}`}
                      {worker.pid !== null && ` · ${worker.pid}`}
                    </span>
                  </span>
                </td>
                <td>{worker.agents?.join(', ') ?? '–'}</td>
                <td>
                  {counted(worker.leases, 'session')}
                  {worker.expired > 0 && (
                    <span className="work-bad">
                      {' '}
                      {countText(worker.expired)} expired, another worker takes over
                    </span>
                  )}
                </td>
                <td>{worker.seenMsAgo === null ? '–' : seenText(worker.seenMsAgo)}</td>
                <td>
                  {worker.startedAt === null
                    ? '–'
                    : durationText(Math.max(0, at - Date.parse(worker.startedAt)))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

const seenText = (ms: number): string => (ms < 1_500 ? 'now' : `${durationText(ms)} ago`);
