import type { ReactElement } from 'react';
import type { Trace } from '../../trace/trace.ts';
import { counted, durationText } from '../../number-text.ts';
import { shareText } from './trace-format.ts';

interface Part {
  readonly kind: 'model' | 'tool' | 'backoff' | 'queued' | 'other';
  readonly name: string;
  readonly ms: number;
  readonly note: string;
}

/** Renders how the working time was spent; pauses are shown next to it and are not part of it. */
export function TimeSpent({ trace }: { readonly trace: Trace }): ReactElement | null {
  const { seconds, pausedMs } = trace.totals;
  const worked = seconds.used * 1000;
  if (trace.steps.length === 0) return null;
  const parts = partsOf(trace, worked);
  const all = parts.reduce((sum, { ms }) => sum + ms, 0);
  return (
    <section className="trace-spent" aria-labelledby="trace-spent-title">
      <h3 id="trace-spent-title">Where {durationText(worked)} went</h3>
      <div className="spent-stack" aria-hidden="true">
        {parts.map(
          ({ kind, ms }) => ms > 0 && <i key={kind} data-kind={kind} style={{ flexGrow: ms }} />,
        )}
      </div>
      <table>
        <tbody>
          {parts.map(({ kind, name, ms, note }) => (
            <tr key={kind}>
              <th scope="row">
                <i className="trace-key" data-kind={kind} aria-hidden="true" />
                <span>
                  {name}
                  <small>{note}</small>
                </span>
              </th>
              <td>{durationText(ms)}</td>
              <td className="spent-share">{shareText(ms, all)}</td>
            </tr>
          ))}
          {pausedMs > 0 && (
            <tr>
              <th scope="row">
                <i className="trace-key" data-kind="paused" aria-hidden="true" />
                <span>
                  Paused<small>waiting for approval, an answer or resume, not counted</small>
                </span>
              </th>
              <td>{durationText(pausedMs)}</td>
              <td className="spent-share">–</td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}

function partsOf(trace: Trace, worked: number): readonly Part[] {
  const { modelMs, toolMs, backoffMs, queuedMs = 0 } = trace.totals;
  const bars = trace.steps.flatMap(({ bars }) => bars);
  const parts: Part[] = [
    { kind: 'tool', name: 'Tools', ms: toolMs, note: callsText(trace, bars, 'tool') },
    { kind: 'model', name: 'Model', ms: modelMs, note: callsText(trace, bars, 'model') },
  ];
  if (backoffMs > 0)
    parts.push({
      kind: 'backoff',
      name: 'Backoff',
      ms: backoffMs,
      note: 'waits after failed model calls',
    });
  if (queuedMs > 0)
    parts.push({
      kind: 'queued',
      name: 'Limiter',
      ms: queuedMs,
      note: 'waits before model calls were sent',
    });
  const other = worked - modelMs - toolMs - backoffMs - queuedMs;
  if (other >= Math.max(1, worked / 100))
    parts.push({
      kind: 'other',
      name: 'Other',
      ms: other,
      note: 'hooks, saving and the loop itself',
    });
  return parts.toSorted((a, b) => b.ms - a.ms);
}

function callsText(trace: Trace, bars: Trace['steps'][number]['bars'], kind: string): string {
  const own = bars.filter((bar) => bar.kind === kind && bar.state !== 'waiting');
  const failed = own.filter(({ state }) => state === 'error' || state === 'timeout').length;
  const text = own.length === 0 ? 'no calls' : counted(own.length, 'call');
  const among = trace.hasEarlier ? ' in the steps shown' : '';
  return failed > 0 ? `${text}, ${failed} failed${among}` : text + among;
}
