import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentError, type SessionRuntime } from 'onward';
import type { SessionStore } from 'onward/stores';
import { sqliteStore } from 'onward/stores/sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { demoApp } from '../../src/demo/index.ts';
import { openPartnerData, type PartnerData } from '../../src/demo/partner-data.ts';
import {
  ann,
  callIds,
  clientOn,
  codeOf,
  isSound,
  pause,
  runtimeOn,
  until,
  waiting,
} from '../setup/sessions.ts';
import { demoFolder, openDemo } from './setup.ts';

const task = 'Add a lead for Helvetia Robotics with the company data filled in';

const helvetias = (data: PartnerData) =>
  data.all(
    "SELECT id, owner, employees FROM leads WHERE company = 'Helvetia Robotics AG' AND program_id = 'prg_101'",
  );

/** A store of a process that dies at its nth commit. After that it never responds. */
function mortal(store: SessionStore, last: number): { store: SessionStore; isDead(): boolean } {
  const never = new Promise<never>(() => {});
  let commits = 0;
  const isDead = (): boolean => commits >= last;
  const methods = Object.entries(store).map(([name, method]: [string, unknown]) => [
    name,
    typeof method === 'function'
      ? (...args: unknown[]) =>
          isDead() && name !== 'close' ? never : (method as (...a: unknown[]) => unknown)(...args)
      : method,
  ]);
  const guarded = Object.fromEntries(methods) as SessionStore;
  return {
    isDead,
    store: {
      ...guarded,
      async commit(commit) {
        if (isDead()) return never;
        commits += 1;
        const receipt = await store.commit(commit);
        return isDead() ? never : receipt;
      },
    },
  };
}

describe('a restart of the demo', () => {
  it('after any step, a new process with the same folder continues to the same result', async () => {
    for (const step of [1, 2, 3]) {
      const folder = demoFolder();
      const first = await openDemo(folder);
      const { id } = await first.runtime.create(ann);
      const closing: Promise<void>[] = [];
      first.runtime.wiretap(({ event }) => {
        if (event.type === 'AgentStepCompleted' && event.stepNumber === step)
          closing.push(first.runtime.close());
      });
      await first.runtime.send(id, task, ann);
      await until(() => closing.length > 0);
      await closing[0];
      first.app.close();

      const second = await openDemo(folder);
      expect((await second.runtime.get(id, ann)).status).toBe('in_progress');
      await second.runtime.recover();
      const done = await second.runtime.wait(id, ann);
      expect(done.status).toBe('completed');
      expect(done.output).toContain('Added lead_2208 Helvetia Robotics AG to Nordlicht');
      expect(helvetias(second.data)).toEqual([
        { id: 'lead_2208', owner: 'Mara Lindqvist', employees: 84 },
      ]);
      await isSound(second.runtime, id);
    }
  }, 30_000);

  it('after a kill at any commit, the lead is added exactly once', async () => {
    let survived = false;
    for (let last = 1; !survived; last++) {
      const folder = demoFolder();
      const open = (): SessionStore => {
        const store = sqliteStore({ path: join(folder, 'sessions.db') });
        onTestFinished(() => store.close());
        return store;
      };
      const app = await demoApp({ folder, chunkDelayMs: 0 });
      const { agent } = app.agents[0]!;
      const client = clientOn(open(), agent);
      const { id } = await client.create(ann);
      await client.send(id, task, ann);
      const { store, isDead } = mortal(open(), last);
      const lease = { leaseMs: 60, heartbeatMs: 20 };
      const doomed: SessionRuntime = runtimeOn(store, agent, { lease });
      await doomed.recover();
      await until(async () => isDead() || (await client.get(id, ann)).status !== 'in_progress');
      survived = !isDead();
      await pause(survived ? 0 : 70); // the lease of the dead process expires

      const next = await openDemo(folder);
      await next.runtime.recover();
      const done = await next.runtime.wait(id, ann);
      expect(done.status, `commit ${last}`).toBe('completed');
      expect(done.output).toContain('Added lead_2208');
      expect(helvetias(next.data), `commit ${last}`).toHaveLength(1);
      await isSound(next.runtime, id);
      app.close();
    }
  }, 60_000);

  it('while a call needs approval, another process takes the answer', async () => {
    const folder = demoFolder();
    const first = await openDemo(folder);
    const { id } = await first.runtime.create(ann);
    await first.runtime.send(id, 'Clean up inactive Alpine leads', waiting);
    await first.runtime.close();
    first.app.close();
    const second = await openDemo(folder);
    const approvals = Object.fromEntries(
      callIds(await second.runtime.get(id, ann)).map((c) => [c, { approve: true as const }]),
    );
    const done = await second.runtime.resume(id, { ...waiting, approvals });
    expect(done.output).toContain('3 of 3 leads are gone');
    const left = "SELECT id FROM leads WHERE program_id = 'prg_102' AND status = 'inactive'";
    expect(second.data.all(left)).toEqual([]);
  });

  it('between limit and grant, another process works on the granted steps', async () => {
    const folder = demoFolder();
    const first = await openDemo(folder);
    const { id } = await first.runtime.create(ann);
    await first.runtime.send(id, 'Enrich every lead of the Baltic program', waiting);
    await first.runtime.close();
    const second = await openDemo(folder);
    const done = await second.runtime.resume(id, { ...waiting, grant: { steps: 6 } });
    expect(done.output).toContain('12 of 12 leads in Baltic');
  });
});

describe('the demo folder', () => {
  it('is filled once and keeps changes', async () => {
    const folder = demoFolder();
    const first = await openPartnerData(folder);
    first.run("UPDATE leads SET owner = 'Ada Byron' WHERE id = 'lead_2101'");
    first.close();
    const second = await openPartnerData(folder);
    expect(second.one("SELECT owner FROM leads WHERE id = 'lead_2101'")).toEqual({
      owner: 'Ada Byron',
    });
    expect(second.one('SELECT count(*) AS n FROM leads')).toEqual({ n: 60 });
    second.close();
  });

  it('can be opened by several processes at once, and one of them fills it', async () => {
    const folder = join(demoFolder(), 'deep', 'er');
    const all = await Promise.all(Array.from({ length: 5 }, () => openPartnerData(folder)));
    for (const data of all) {
      expect(data.one('SELECT count(*) AS n FROM leads')).toEqual({ n: 60 });
      data.close();
    }
  });

  it.each<[string, (path: string) => unknown]>([
    [
      'that is not a database',
      (path) => writeFileSync(path, 'these are not the rows you look for'.repeat(9)),
    ],
    ['from another program', (path) => otherDatabase(path)],
  ])('is rejected with a helpful error if partners.db is a file %s', async (_case, write) => {
    const folder = demoFolder();
    await write(join(folder, 'partners.db'));
    const refused = await openPartnerData(folder).catch((error: unknown) => error);
    expect(AgentError.is(refused, 'store_failed')).toBe(true);
    expect((refused as Error).message).toMatch(
      /partners\.db .* Delete that file, or choose another/,
    );
  });

  it('rejects an invalid chunk delay', async () => {
    const folder = demoFolder();
    for (const chunkDelayMs of [-1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(await codeOf(() => demoApp({ folder, chunkDelayMs }))).toBe('invalid_option');
  });
});

async function otherDatabase(path: string): Promise<void> {
  const store = sqliteStore({ path });
  await runtimeOn(store, (await demoApp({ folder: demoFolder() })).agents[0]!.agent).create(ann);
  await store.close();
}
