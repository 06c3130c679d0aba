import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../setup/postgres.ts';
import { campaignLine } from './campaign-line.ts';
import { kindsFor } from './fault-schedule.ts';
import { availableFaults } from './available-faults.ts';
import { killCampaign } from './kill-run.ts';
import { bundleProgram } from '../setup/bundle-program.ts';

/** `ONWARD_SEED=… npx vitest run test/kill/kill.test.ts` repeats the same plans and faults. */
const given = process.env['ONWARD_SEED'];
const seeds = given === undefined ? [1, 2] : [Number(given)];
const sizes = { sessions: 12, turns: 2, faults: 16, workers: 3 };

let worker: Awaited<ReturnType<typeof bundleProgram>>;
beforeAll(async () => {
  worker = await bundleProgram('test/kill/kill-worker.ts');
}, 60_000);
afterAll(() => worker.remove());

async function expectNothingLost(seed: number, server: TestPostgres | null): Promise<void> {
  const store = server ? 'postgres' : 'sqlite';
  const kinds = availableFaults(kindsFor(store), server);
  const report = await killCampaign({ ...sizes, kinds, server, seed, workerFile: worker.file });
  console.log(`${store}: ${campaignLine(report)}`);
  const how = `ONWARD_SEED=${seed} repeats this schedule:\n${report.schedule.join('\n')}\n`;
  if (report.violations.length > 0) console.log(how, report.violations);
  expect(report.violations, how).toEqual([]);
  expect(report.faults.kill).toBeGreaterThan(0);
  expect(report.toolRuns).toBeGreaterThan(0);
  expect(report.compactions).toBeGreaterThan(0);
}

const promise = 'every session ends, no written data is lost and nothing runs twice (seed %i)';
const cases = 'D16 D17 D18 D24 D26 D46 D77: workers that are killed, frozen or have a wrong clock';

describe(`${cases}, on a SQLite file that other processes lock`, () => {
  it.each(seeds)(promise, (seed) => expectNothingLost(seed, null), 240_000);
});

describe(`${cases}, on a PostgreSQL server that loses answers, hangs and is killed`, () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres({ fsync: true });
  }, 60_000);
  afterAll(() => server.stop());

  it.each(seeds)(promise, (seed) => expectNothingLost(seed, server), 240_000);
});
