import { expect, it } from 'vitest';
import type { Dropped } from '../session-store.ts';
import { inBatches } from './upkeep-rules.ts';

/** Batches that keep the event loop busy, and wait for nothing. */
async function* busy(batches: number, ms: number): AsyncGenerator<Dropped> {
  for (let n = 0; n < batches; n++) {
    const end = performance.now() + ms;
    while (performance.now() < end);
    yield { sessions: 1, rows: 2 };
  }
}

it('others have turns of the event loop between the batches', async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const total = await inBatches({ olderThan: '2026' }, busy(50, 2));
  clearInterval(timer);
  expect(total).toEqual({ sessions: 50, rows: 100 });
  expect(turns).toBeGreaterThanOrEqual(3);
});
