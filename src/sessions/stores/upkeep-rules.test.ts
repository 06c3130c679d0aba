import { expect, it } from 'vitest';
import type { Dropped } from '../session-store.ts';
import { inBatches } from './upkeep-rules.ts';

/** Yields batches that block the event loop without waiting. */
async function* busy(batches: number, ms: number): AsyncGenerator<Dropped> {
  for (let n = 0; n < batches; n++) {
    const end = performance.now() + ms;
    while (performance.now() < end);
    yield { sessions: 1, rows: 2 };
  }
}

it('inBatches leaves turns of the event loop to other work between batches', async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const total = await inBatches({ olderThan: '2026' }, busy(50, 2));
  clearInterval(timer);
  expect(total).toEqual({ sessions: 50, rows: 100 });
  expect(turns).toBeGreaterThanOrEqual(3);
});
