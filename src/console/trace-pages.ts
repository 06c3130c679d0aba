import type { Trace } from '../trace/trace.ts';

/** Merges the newest steps into the earlier ones that were loaded before. */
export function withNewest(shown: Trace | null, fresh: Trace): Trace {
  if (!shown || shown.executionId !== fresh.executionId || !fresh.hasEarlier) return fresh;
  const first = fresh.steps[0];
  if (!first) return fresh;
  const earlier = shown.steps.filter(({ number }) => number < first.number);
  if (earlier.length === 0) return fresh;
  return { ...fresh, steps: [...earlier, ...fresh.steps], hasEarlier: shown.hasEarlier };
}

/** Adds a page of earlier steps. */
export function withEarlier(shown: Trace, page: Trace): Trace {
  if (shown.executionId !== page.executionId) return shown;
  const first = shown.steps[0]?.number ?? Number.POSITIVE_INFINITY;
  const added = page.steps.filter(({ number }) => number < first);
  return {
    ...shown,
    steps: [...added, ...shown.steps],
    pauses: [
      ...page.pauses.filter(
        ({ at, step }) => !shown.pauses.some((p) => p.at === at && p.step === step),
      ),
      ...shown.pauses,
    ],
    hasEarlier: page.hasEarlier,
  };
}
