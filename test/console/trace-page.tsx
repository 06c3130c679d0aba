import { useState, type ReactElement } from 'react';
import { createRoot } from 'react-dom/client';
import { flushSync } from 'react-dom';
import type { GrantState } from '../../src/console/contract.ts';
import { TraceView } from '../../src/console/trace/trace-view.tsx';
import type { Trace } from '../../src/trace/trace.ts';

declare global {
  interface Window {
    /** Renders a trace and returns the duration. */
    showTrace: (trace: Trace, selected?: number | null) => number;
    /** Updates the trace of the page. */
    bringTrace: (trace: Trace) => void;
    asked: unknown[];
  }
}

const root = createRoot(document.getElementById('root') as HTMLElement);
window.asked = [];

function Page({
  trace,
  first,
}: {
  readonly trace: Trace;
  readonly first: number | null;
}): ReactElement {
  const [selected, setSelected] = useState(first);
  const [grantState, setGrantState] = useState<GrantState>({ kind: 'ready' });
  const ask = (...what: unknown[]): void => void window.asked.push(what);
  return (
    <TraceView
      trace={trace}
      selected={selected}
      onSelect={setSelected}
      grantState={grantState}
      onGrant={(grant) => {
        ask('grant', grant);
        setGrantState({ kind: 'sending' });
      }}
      onResume={() => ask('resume')}
      onNewMessage={() => ask('message')}
      onFork={(step) => ask('fork', step)}
      onEarlier={() => ask('earlier')}
      onOpenCall={(callId, step) => ask('open', callId, step)}
      onOpenAbove={({ callId, step }) => ask('above', callId, step)}
    />
  );
}

let count = 0;
const draw = (trace: Trace, selected: number | null): void =>
  flushSync(() => root.render(<Page key={count} trace={trace} first={selected} />));
window.showTrace = (trace, selected = null) => {
  count += 1;
  const before = performance.now();
  draw(trace, selected);
  return performance.now() - before;
};
window.bringTrace = (trace) => draw(trace, null);
