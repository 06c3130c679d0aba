import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEffects } from './effect-log.ts';
import type { Plan } from './kill-agent.ts';
import { checkNextTurn, checkSessions } from './kill-check.ts';
import { openStore, removeStore, type StorePlace } from './open-store.ts';
import { sleep } from './random.ts';
import { SessionClient } from './session-client.ts';
import { killRuntime, type WorkerJob } from './worker-job.ts';
import { WorkerProcess } from './worker-process.ts';
import { removeFolder } from '../setup/folders.ts';

export interface PointsReport {
  /** How many processes died, each at a different point. */
  readonly deaths: number;
  readonly unknownFates: number;
  readonly violations: readonly string[];
}

const LEASE = { leaseMs: 300, heartbeatMs: 60, signalMs: 100 };
const RECOVERY_MS = 20_000;
const MOST_POINTS = 200;

/**
 * Starts one process after another for the same turn. Each one dies at the next point: before and after each write of
 * the store, and where a tool starts and ends. Another process continues each time. Ends when a process survives.
 */
export async function killAtEveryPoint(options: {
  readonly workerFile: string;
  readonly plan: Plan;
  /** Null for SQLite. */
  readonly postgres: { readonly url: string; readonly schema: string } | null;
  /** Whether the session is stopped before another process continues. */
  readonly thenStop?: boolean;
}): Promise<PointsReport> {
  const { workerFile, plan, postgres, thenStop = false } = options;
  const folder = mkdtempSync(join(tmpdir(), 'onward-points-'));
  const log = join(folder, 'effects.log');
  writeFileSync(log, '');
  const place: StorePlace = postgres
    ? { kind: 'postgres', ...postgres }
    : { kind: 'sqlite', path: join(folder, 'sessions.db') };
  const job: WorkerJob = { place, log, seed: 1, lease: LEASE };
  const store = openStore(place);
  const violations: string[] = [];
  const { runtime, write } = killRuntime(job, store, {
    onError: (error) => violations.push(`the parent failed: ${String(error)}`),
  });
  const client = new SessionClient(runtime, write);
  const hire = (): WorkerProcess => new WorkerProcess(workerFile, job);
  // one process is always started ahead and takes over what the previous one left
  let next = hire();
  const began = performance.now();
  let deaths = 0;
  let unknownFates = 0;
  try {
    for (const when of ['before', 'after', 'effect'] as const)
      for (let point = 1; ; point++) {
        const worker = next;
        await worker.ready;
        next = hire();
        const session = `${when}-${point}`;
        const answer = await worker.ask({ do: 'whole', session, plan, die: { point, when } });
        if (answer !== 'died') {
          if (answer !== 'done') violations.push(`${session} was refused: ${answer.refused}`);
          await worker.kill();
          break;
        }
        deaths += 1;
        const found = violations.length;
        if (thenStop) await client.stop({ session }).catch(() => {}); // it may not exist yet
        await Promise.race([client.wholeTurn(session, plan), sleep(RECOVERY_MS)]);
        const report = await checkSessions(
          { store, runtime },
          [session],
          readEffects(log),
          (performance.now() - began) / 1000,
        );
        unknownFates += report.counts.unknownFates;
        const failures = [...worker.failures, ...next.failures].map(({ failed }) => failed);
        violations.push(...report.violations, ...failures);
        violations.push(...(await checkNextTurn({ store, runtime }, session)));
        if (violations.length > found) violations.push(`(died ${worker.dying ?? session})`);
        if (point === MOST_POINTS) violations.push(`no end after ${MOST_POINTS} points`);
        if (point === MOST_POINTS || violations.length > 20) break;
      }
  } finally {
    await next.kill();
    await runtime.close({ graceMs: 5_000 });
    await store.close();
    await removeStore(place);
    removeFolder(folder);
  }
  return { deaths, unknownFates, violations };
}
