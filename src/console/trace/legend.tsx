import type { ReactElement } from 'react';
import type { Trace } from '../../trace/trace.ts';
import type { PieceLook } from './lanes.ts';

const names: readonly (readonly [PieceLook, string])[] = [
  ['model', 'model'],
  ['tool', 'tool'],
  ['running', 'running'],
  ['failed', 'failed'],
  ['unused', 'not run'],
  ['backoff', 'backoff'],
  ['paused', 'paused, not to scale'],
];

/** Names the marks that are there, and no others. */
export function Legend({ trace }: { readonly trace: Trace }): ReactElement | null {
  if (trace.steps.length === 0) return null;
  const seen = looksIn(trace);
  return (
    <div className="trace-legend trace-legend-bars">
      {names.map(
        ([look, name]) =>
          seen.has(look) && (
            <span key={look}>
              <i className="trace-key" data-look={look} aria-hidden="true" />
              {name}
            </span>
          ),
      )}
      <span className="trace-keys">
        <kbd>J</kbd>
        <kbd>K</kbd>
        step
      </span>
    </div>
  );
}

function looksIn({ steps, pauses }: Trace): ReadonlySet<PieceLook> {
  const seen = new Set<PieceLook>(pauses.length > 0 ? ['paused'] : []);
  for (const { bars, waitMs } of steps) {
    if (waitMs > 0) seen.add('backoff');
    for (const { kind, state } of bars)
      if (state === 'error' || state === 'timeout') seen.add('failed');
      else if (state === 'ok') seen.add(kind);
      else if (state === 'running') seen.add('running');
      else if (state === 'denied' || state === 'aborted' || state === 'blocked') seen.add('unused');
  }
  return seen;
}
