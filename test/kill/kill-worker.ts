import { sharedOptions } from '../scale/shared-options.ts';
import { effectLog } from './effect-log.ts';
import { openStore, watchedStore } from './open-store.ts';
import { sleep } from './random.ts';
import { codeOf, SessionClient } from './session-client.ts';
import {
  killRuntime,
  OWNER,
  type Death,
  type WorkerJob,
  type WorkerNews,
  type WorkerRequest,
  type WorkerTask,
} from './worker-job.ts';

/** The process that gets killed. It works on sessions and sends requests like a client. */
const job = JSON.parse(process.argv[2] ?? '') as WorkerJob;
const report = (news: WorkerNews): void => void process.send?.(news);

let death: Death | null = null;
let counted = { before: 0, after: 0, effect: 0 };

const reached = (what: string, when: Death['when']): void => {
  const point = ++counted[when];
  if (death?.when !== when || death.point !== point) return;
  report({ dying: `${when} ${point}, ${what}` });
  process.kill(process.pid, 'SIGKILL');
};

const write = effectLog(job.log);
const tokens = new Map<string, number>();
const store = watchedStore(openStore(job.place), reached, ({ id: session, token, worker }) => {
  tokens.set(session, token);
  write({ kind: 'claimed', session, subject: String(token), what: worker ?? '-' });
});
const { runtime } = killRuntime(job, store, {
  onError: (error) => report({ failed: String(error), code: codeOf(error) }),
  reached: (effect) => reached(effect, 'effect'),
  tokenOf: (session) => tokens.get(session) ?? 0,
  options: job.shared ? sharedOptions(job.shared, job.seed) : {},
});
const client = new SessionClient(runtime, write);

async function carryOut(task: WorkerTask): Promise<void> {
  if (task.do === 'send') return client.send(task);
  if (task.do === 'answer') return client.answer(task);
  if (task.do === 'stop') return client.stop(task);
  if (task.do === 'close') return runtime.close({ graceMs: 5_000 });
  if (task.do === 'whole') {
    counted = { before: 0, after: 0, effect: 0 };
    death = task.die;
    return client.wholeTurn(task.session, task.plan);
  }
  await runtime[task.do](task.session, { owner: OWNER });
}

process.on('message', ({ id, ...task }: WorkerRequest) => {
  carryOut(task)
    .then(
      () => report({ id }),
      (error: unknown) => report({ id, refused: codeOf(error) }),
    )
    .finally(() => {
      if (task.do === 'close') void store.close().then(() => process.exit(0));
    });
});
// the parent process has exited
process.on('disconnect', () => process.exit(1));

// the server may be down
for (let isUp = false; !isUp;)
  isUp = await store.find('warm-up').then(
    () => true,
    async (error: unknown) => {
      if (codeOf(error) !== 'store_failed') throw error;
      await sleep(50);
      return false;
    },
  );
runtime.start();
report({ ready: true });
