import { useEffect, useState } from 'react';
import type { Trace } from '../../trace/trace.ts';
import { grown } from './trace-rows.ts';
import { lessMotion, useMedia } from './use-media.ts';

const tickMs = 200;

/** Returns the document with its running step growing until the next document arrives. */
export function useGrown(trace: Trace): Trace {
  const isStill = useMedia(lessMotion);
  const [tick, setTick] = useState<{ readonly of: Trace; readonly ms: number } | null>(null);
  const grows = !isStill && trace.steps.at(-1)?.type === 'running';
  useEffect(() => {
    if (!grows) return undefined;
    const came = performance.now();
    const timer = setInterval(() => setTick({ of: trace, ms: performance.now() - came }), tickMs);
    return () => clearInterval(timer);
  }, [trace, grows]);
  return grows && tick?.of === trace ? grown(trace, tick.ms) : trace;
}
