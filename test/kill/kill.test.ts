import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../setup/postgres.ts';
import { campaignLine } from './campaign-line.ts';
import { killCampaign, type CampaignOptions } from './kill-run.ts';
import { bundleWorker } from './worker-bundle.ts';

/** `ONWARD_SEED=… npx vitest run test/kill` makes the same plans and aims at the same moments again. */
const seed = Number(process.env['ONWARD_SEED'] ?? Date.now() % 1_000_000_000);
const sizes = { sessions: 20, turns: 3, kills: 25, workers: 3, maxMs: 60_000 };

let worker: Awaited<ReturnType<typeof bundleWorker>>;
beforeAll(async () => {
  worker = await bundleWorker();
}, 60_000);
afterAll(() => worker.remove());

async function expectNothingLost(store: CampaignOptions['store']): Promise<void> {
  const report = await killCampaign({ ...sizes, store, seed, workerFile: worker.file });
  console.log(`${store.kind}: ${campaignLine(report)}`);
  expect(report.violations, `ONWARD_SEED=${seed}`).toEqual([]);
  expect(report.kills).toBeGreaterThanOrEqual(sizes.kills);
  expect(report.unknownFates).toBeGreaterThan(0);
}

const promise = 'every session ends, nothing that was written is lost, nothing runs twice';

describe('D16 D17 D18 D24 D26 D46: workers that are killed at random, on SQLite', () => {
  it(promise, () => expectNothingLost({ kind: 'sqlite' }), 120_000);
});

describe('D16 D17 D18 D24 D26 D46: workers that are killed at random, on PostgreSQL', () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server.stop());

  it(promise, () => expectNothingLost({ kind: 'postgres', url: server.url }), 120_000);
});
