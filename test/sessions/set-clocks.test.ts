import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundledProgram, startChild } from '../setup/child-program.ts';
import { faketimeLibrary, NO_FAKETIME, shiftedWall, type ShiftedWall } from '../setup/fake-time.ts';
import { HOUR } from '../setup/lease-clocks.ts';
import { startPostgres, type TestPostgres } from '../setup/postgres.ts';
import { sqlitePlace } from '../setup/sessions.ts';

const LEASE_MS = 2_000;
/** Additional time for a busy machine, including a start of Node. */
const SLACK_MS = 4_000;

let server: TestPostgres | null = null;
let serverWall: ShiftedWall | null = null;
let file = '';
const removals: (() => void)[] = [];
beforeAll(async () => {
  if (faketimeLibrary === null) return;
  file = await bundledProgram('test/setup/clock-child.ts', (remove) => void removals.push(remove));
  serverWall = shiftedWall();
  server = await startPostgres({ env: serverWall.env });
}, 60_000);
afterAll(async () => {
  await server?.stop();
  serverWall?.remove();
  for (const remove of removals) remove();
}, 60_000);

interface Setting {
  readonly place: readonly string[];
  readonly wall: ShiftedWall;
  /** Environment of the processes. */
  readonly env: Readonly<Record<string, string>>;
}

const ofProcesses = (): Pick<Setting, 'wall' | 'env'> => {
  const wall = shiftedWall();
  removals.push(() => wall.remove());
  return { wall, env: wall.env };
};

/** The clock that is changed, and the store of the sessions. */
const settings: Readonly<Record<string, (n: number) => Setting>> = {
  'the clock of the processes, on SQLite': () => ({
    place: [join(sqlitePlace().folder, 'sessions.db'), ''],
    ...ofProcesses(),
  }),
  'the clock of the processes, on PostgreSQL': (n) => ({
    place: [server?.url ?? '', `processes_${n}`],
    ...ofProcesses(),
  }),
  'the clock of PostgreSQL': (n) => ({
    place: [server?.url ?? '', `server_${n}`],
    wall: serverWall as ShiftedWall, // created in beforeAll
    env: {},
  }),
};

it.runIf(faketimeLibrary === null)('real clocks are changed', (context) =>
  context.skip(NO_FAKETIME),
);

describe.skipIf(faketimeLibrary === null).each(Object.entries(settings))('%s', (_name, setting) => {
  it.each([-HOUR, 24 * HOUR])(
    'jumps by %d ms: the session of a killed worker is taken over within the lease and 2 seconds',
    async (jump) => {
      const { place, wall, env } = setting(jump < 0 ? 1 : 2);
      const worker = startChild(file, ['works', ...place, 'hang'], env);
      await worker.said('calls the model');
      worker.process.kill('SIGKILL');
      await worker.gone;
      wall.jump(jump);
      const heir = startChild(file, ['waits', ...place], env);
      const line = await heir.said('saw it completed');
      const { ms, seconds } = JSON.parse(line.slice('saw it completed '.length)) as {
        ms: number;
        seconds: number;
      };
      expect(ms).toBeLessThan(LEASE_MS + 2_000 + SLACK_MS);
      expect(seconds).toBeGreaterThanOrEqual(0);
      expect(seconds * 1000).toBeLessThan(ms);
    },
    60_000,
  );

  it.each([-24 * HOUR, HOUR])(
    'jumps by %d ms while a tool runs: it runs once, and its duration is correct',
    async (jump) => {
      const { place, wall, env } = setting(jump < 0 ? 3 : 4);
      const worker = startChild(file, ['works', ...place, 'pay'], env);
      await worker.said('pays');
      const other = startChild(file, ['waits', ...place], env);
      await other.said('waits');
      await wait(200);
      wall.jump(jump);
      const done = JSON.parse((await worker.said('done')).slice('done '.length)) as {
        status: string;
        stopReason: string;
        seconds: number;
        durations: number[];
      };
      expect(done).toMatchObject({ status: 'completed', stopReason: 'completed' });
      expect(done.seconds).toBeGreaterThan(3.9);
      expect(done.seconds).toBeLessThan(15);
      for (const ms of done.durations) expect(ms).toBeGreaterThanOrEqual(0);
      await other.said('saw it completed');
      expect([...worker.lines, ...other.lines].filter((line) => line === 'pays')).toHaveLength(1);
    },
    60_000,
  );
});
