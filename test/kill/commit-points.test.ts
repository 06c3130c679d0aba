import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../setup/postgres.ts';
import { killAtEveryPoint } from './commit-points.ts';
import type { Plan } from './kill-agent.ts';
import { bundleProgram } from '../setup/bundle-program.ts';

const TIMEOUT_MS = 240_000;

let worker: Awaited<ReturnType<typeof bundleProgram>>;
beforeAll(async () => {
  worker = await bundleProgram('test/kill/kill-worker.ts');
}, 60_000);
afterAll(() => worker.remove());

type Options = Omit<Parameters<typeof killAtEveryPoint>[0], 'workerFile'>;

async function expectNothingLost(options: Options, leastDeaths: number): Promise<void> {
  const report = await killAtEveryPoint({ ...options, workerFile: worker.file });
  expect(report.violations).toEqual([]);
  expect(report.deaths).toBeGreaterThanOrEqual(leastDeaths);
  expect(report.unknownFates).toBeGreaterThan(0);
}

/** One-step plans, each with the minimum number of processes that die. */
const plans: readonly [string, Plan, number][] = [
  ['one tool', [['note']], 16],
  ['three tools, one of them idempotent', [['note', 'look', 'pay']], 20],
  ['an approval next to a tool', [['ask', 'note']], 24],
  ['a nested agent with its own approval', [['consult']], 30],
  ['a nested agent beside a slow tool', [['errand', 'slow']], 24],
];

describe.concurrent('D16 D18 D24 D26 D46: a process that dies at any point of a step, on SQLite', () => {
  it.each(plans)(
    '%s: another process continues, and nothing runs twice',
    (_what, plan, deaths) => expectNothingLost({ plan, postgres: null }, deaths),
    TIMEOUT_MS,
  );

  it(
    'a stop before another process continues reports started calls as unknown',
    () => expectNothingLost({ plan: [['look', 'pay']], postgres: null, thenStop: true }, 18),
    TIMEOUT_MS,
  );
});

describe('D16 D18 D26 D46: a process that dies at any point of a step, on PostgreSQL', () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server.stop());

  it(
    'one tool: another process continues, and nothing runs twice',
    () => {
      const postgres = { url: server.url, schema: `points_${process.pid}` };
      return expectNothingLost({ plan: [['note']], postgres }, 16);
    },
    TIMEOUT_MS,
  );
});
