import type { ReactElement } from 'react';
import type { Trace } from '../../trace/trace.ts';
import type { PieceKind } from './lanes.ts';

const names: readonly (readonly [PieceKind, string])[] = [
  ['model', 'model'],
  ['tool', 'tool'],
  ['agent', 'agent behind a call'],
  ['running', 'running'],
  ['failed', 'failed'],
  ['unused', 'not run'],
  ['backoff', 'backoff'],
  ['queued', 'waited for the limiter'],
  ['paused', 'paused, not to scale'],
];

/** Renders the names of the marks in use. */
export function Legend({ trace }: { readonly trace: Trace }): ReactElement | null {
  if (trace.steps.length === 0) return null;
  const seen = kindsIn(trace);
  return (
    <div className="trace-legend trace-legend-bars">
      {names.map(
        ([kind, name]) =>
          seen.has(kind) && (
            <span key={kind}>
              <i className="trace-key" data-kind={kind} aria-hidden="true" />
              {name}
            </span>
          ),
      )}
      <span className="trace-keys">
        <kbd>J</kbd>
        <kbd>K</kbd>
        step
        <kbd>1</kbd>–<kbd>4</kbd>
        tab
        <kbd>N</kbd>
        next failure
      </span>
    </div>
  );
}

function kindsIn({ steps, pauses }: Trace): ReadonlySet<PieceKind> {
  const seen = new Set<PieceKind>(pauses.length > 0 ? ['paused'] : []);
  for (const { bars, waitMs, modelCall } of steps) {
    if (modelCall?.queuedMs) seen.add('queued');
    if (waitMs > 0) seen.add('backoff');
    for (const { kind, state, child } of bars)
      if (state === 'error' || state === 'timeout') seen.add('failed');
      else if (state === 'ok') seen.add(child ? 'agent' : kind);
      else if (state === 'running') seen.add('running');
      else if (state === 'denied' || state === 'aborted' || state === 'blocked') seen.add('unused');
  }
  return seen;
}
