import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionRuntime } from 'onward';
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';
import { readEffects, type Effect } from '../kill/effect-log.ts';
import { bundleProgram } from '../setup/bundle-program.ts';
import { removeFolder } from '../setup/folders.ts';
import { startPostgres, type TestPostgres } from '../setup/postgres.ts';
import { hasRedis, startRedis, type TestRedis } from '../setup/redis.ts';
import { ProcessHandle } from './process-handle.ts';
import { logIn, openGate } from './scale-agent.ts';
import { scaleRuntime, type ScaleJob } from './scale-job.ts';

/** How processes reach each other. */
interface Variant {
  readonly bus: 'PostgreSQL' | 'Redis';
  readonly queue: 'PostgreSQL' | 'Redis' | null;
}

const variants: readonly Variant[] = [
  { bus: 'PostgreSQL', queue: null },
  { bus: 'PostgreSQL', queue: 'PostgreSQL' },
  ...(hasRedis ? [{ bus: 'Redis', queue: 'Redis' } as const] : []),
];

/** Polls so rarely that only a bus or a queue can be what was fast. */
const RARELY = { leaseMs: 60_000, heartbeatMs: 20_000, signalMs: 30_000 };
/** Notices a killed worker soon. */
const SHORTLY = { leaseMs: 2_000, heartbeatMs: 500, signalMs: 200 };

/** The sessions, bus and queue of one test, and processes on them. */
export interface Scene {
  readonly busUrl: string;
  /** A runtime in this process that accepts and reads, and works on nothing. */
  readonly client: SessionRuntime;
  /** The lease of workers that sweep. */
  readonly leaseMs: number;
  /** Starts a process that works; without `sweeps` it has only what bus and queue bring. */
  worker(options?: { readonly sweeps?: boolean; readonly busUrl?: string }): Promise<ProcessHandle>;
  /** Starts a process that only accepts messages. */
  sender(): Promise<ProcessHandle>;
  /** Lets the model or the tool pass a gate of its plan. */
  open(gate: string): void;
  /** The tool runs so far. */
  begun(session: string): Effect[];
}

let scenes = 0;

/** Runs the tests over each bus and with each queue that this machine has. */
export function describeProcesses(
  title: string,
  tests: (
    newScene: (options?: { readonly busUrl?: string }) => Scene,
    busUrl: () => string,
  ) => void,
): void {
  let file = '';
  let remove = (): void => {};
  let postgres: TestPostgres;
  let redis: TestRedis | null = null;
  beforeAll(async () => {
    ({ file, remove } = await bundleProgram('test/scale/scale-process.ts'));
    postgres = await startPostgres();
    if (hasRedis) redis = await startRedis();
  }, 120_000);
  afterAll(async () => {
    remove();
    await postgres?.stop();
    await redis?.stop();
  });
  const urlOf = (server: 'PostgreSQL' | 'Redis'): string =>
    (server === 'Redis' ? redis?.url : postgres.url) ?? '';

  describe.each(variants.map((variant) => [nameOf(variant), variant] as const))(
    `${title}, %s`,
    (_, { bus, queue }) => {
      const newScene = ({ busUrl = urlOf(bus) }: { readonly busUrl?: string } = {}): Scene => {
        const number = scenes++;
        const folder = mkdtempSync(join(tmpdir(), 'onward-scale-'));
        writeFileSync(logIn(folder), '');
        const job: ScaleJob = {
          folder,
          store: { connectionString: postgres.url, schema: `scale_${number}` },
          bus: { url: busUrl, channel: `scale_${number}` },
          queue: queue && {
            connection: urlOf(queue),
            prefix: `scale_queue_${number}`,
            concurrency: 20,
          },
          work: true,
          sweeps: false,
          lease: RARELY,
        };
        const { runtime: client, store } = scaleRuntime({ ...job, work: false }, () => {});
        const processes: ProcessHandle[] = [];
        onTestFinished(async () => {
          await Promise.all(processes.map((process) => process.kill()));
          await client.close({ graceMs: 0 });
          await store.close();
          removeFolder(folder);
        });
        const started = async (given: ScaleJob): Promise<ProcessHandle> => {
          const process = new ProcessHandle(file, given);
          processes.push(process);
          await process.ready;
          return process;
        };
        return {
          busUrl,
          client,
          leaseMs: SHORTLY.leaseMs,
          worker: ({ sweeps = false, busUrl: url = busUrl } = {}) =>
            started({
              ...job,
              bus: { ...job.bus, url },
              sweeps,
              lease: sweeps ? SHORTLY : RARELY,
            }),
          sender: () => started({ ...job, work: false }),
          open: (gate) => openGate(folder, gate),
          begun: (session) =>
            readEffects(logIn(folder)).filter(
              (effect) => effect.kind === 'begin' && effect.session === session,
            ),
        };
      };
      tests(newScene, () => urlOf(bus));
    },
  );
}

const nameOf = ({ bus, queue }: Variant): string =>
  `over a bus on ${bus} ${queue ? `and a queue on ${queue}` : 'without a shared queue'}`;
