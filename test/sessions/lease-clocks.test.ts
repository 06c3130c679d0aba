import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { SessionStore } from '../../src/sessions/session-store.ts';
import { keyValueStore } from '../../src/sessions/stores/key-value/index.ts';
import { memoryStore } from '../../src/sessions/stores/memory/index.ts';
import { postgresStore } from '../../src/sessions/stores/postgres/index.ts';
import { sqliteStore } from '../../src/sessions/stores/sqlite/index.ts';
import { leaseOf, makeHarness } from '../../src/testing/store-contract/store-harness.ts';
import { faketimeLibrary, NO_FAKETIME, shiftedWall, type ShiftedWall } from '../setup/fake-time.ts';
import { mapDriver } from '../setup/key-values.ts';
import {
  HOUR,
  jumps,
  LEASE_MS,
  SLACK_MS,
  leasesUnder,
  type LeaseReport,
} from '../setup/lease-clocks.ts';
import { startPostgres, type TestPostgres } from '../setup/postgres.ts';
import { sqlitePlace } from '../setup/sessions.ts';

/** The database server, under a clock that can be changed if libfaketime is available. */
let server: TestPostgres;
let serverWall: ShiftedWall | null = null;
const opened: SessionStore[] = [];

beforeAll(async () => {
  serverWall = faketimeLibrary === null ? null : shiftedWall();
  server = await startPostgres(serverWall ? { env: serverWall.env } : {});
}, 60_000);
afterAll(async () => {
  await Promise.all(opened.map((store) => store.close()));
  await server?.stop();
  serverWall?.remove();
}, 60_000);

const openPostgres = (): SessionStore => {
  const store = postgresStore({ connectionString: server.url, schema: 'lease_clocks' });
  opened.push(store);
  return store;
};

const realNow = Date.now.bind(Date);
afterEach(() => vi.restoreAllMocks());
/** Sets the wall clock of this process. */
const setWall = (ms: number): void =>
  void vi.spyOn(Date, 'now').mockImplementation(() => realNow() + ms);

type Three = readonly [SessionStore, SessionStore, () => SessionStore];

/** Opens each store as three processes would. */
const stores: Readonly<Record<string, () => Three>> = {
  memory() {
    const store = memoryStore();
    return [store, store, () => store];
  },
  'key-value'() {
    const driver = mapDriver();
    return [keyValueStore(driver), keyValueStore(driver), () => keyValueStore(driver)];
  },
  sqlite() {
    const path = `${sqlitePlace().folder}/leases.db`;
    const open = (): SessionStore => {
      const store = sqliteStore({ path });
      opened.push(store);
      return store;
    };
    return [open(), open(), open];
  },
  postgres: () => [openPostgres(), openPostgres(), openPostgres],
};

function check(name: string, report: LeaseReport): void {
  const { isKept, diedFor, lateFor, waitedFor } = report;
  const reported = `${name}: ${JSON.stringify(report)}`;
  expect(isKept, reported).toBe(true);
  expect(diedFor, reported).toBeGreaterThanOrEqual(LEASE_MS * 0.9);
  expect(diedFor, reported).toBeLessThan(LEASE_MS + SLACK_MS);
  expect(lateFor, reported).toBeLessThan(LEASE_MS + SLACK_MS);
  expect(waitedFor, reported).toBeLessThan(SLACK_MS);
}

describe('the clock of the processes jumps', () => {
  it.each(jumps)(
    'by %d ms: a live worker keeps its session, and a dead one loses it',
    async (jump) => {
      const reports = await Promise.all(
        Object.entries(stores).map(async ([name, open]) => {
          const report = await leasesUnder(open(), () => setWall(jump));
          return [name, report] as const;
        }),
      );
      for (const [name, report] of reports) check(name, report);
    },
  );
});

describe('a late heartbeat', () => {
  it.each(Object.entries(stores))(
    'keeps the session even if another process has seen the lease expire (%s)',
    async (_name, open) => {
      const [mine, other] = open();
      const held = await makeHarness(mine, 60).held({ ttlMs: 150 });
      const claim = (): Promise<unknown> =>
        other.claim(held.id, { worker: 'other', ttlMs: 60_000 });
      expect(await claim()).toBeNull();
      await wait(300);
      const { worker } = held;
      const renewed = await mine.renew({ worker, ttlMs: 60_000, leases: [leaseOf(held)] });
      expect(renewed).toMatchObject([{ sessionId: held.id }]);
      expect(await claim()).toBeNull();
      await held.commit({ seq: 1 });
    },
  );
});

describe('the clock of the database jumps', () => {
  it.each(jumps)('by %d ms, of a key-value driver', async (jump) => {
    let ahead = 0;
    const driver = { ...mapDriver(), now: () => realNow() + ahead };
    const open = (): SessionStore => keyValueStore(driver);
    check('key-value', await leasesUnder([open(), open(), open], () => void (ahead = jump)));
  });

  it.skipIf(faketimeLibrary === null).each(jumps)('by %d ms, of PostgreSQL', async (jump) => {
    const report = await leasesUnder(stores['postgres']!(), () => serverWall?.jump(jump));
    check('postgres', report);
  });

  it.runIf(faketimeLibrary === null)('of PostgreSQL', (context) => context.skip(NO_FAKETIME));

  it.skipIf(faketimeLibrary === null)(
    'repeatedly back and forth: a live worker loses no session of PostgreSQL',
    async () => {
      const offsets = [HOUR, -HOUR, -24 * HOUR, 24 * HOUR];
      let n = 0;
      const timer = setInterval(() => serverWall?.jump(offsets[n++ % 4] ?? 0), 90);
      try {
        const report = await leasesUnder(stores['postgres']!(), () => {});
        expect(report.isKept).toBe(true);
        expect(report.diedFor).toBeGreaterThanOrEqual(LEASE_MS * 0.9);
        expect(report.diedFor).toBeLessThan(LEASE_MS + SLACK_MS);
      } finally {
        clearInterval(timer);
      }
    },
  );
});
