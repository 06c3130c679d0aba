import { AgentError } from 'onward';
import type { ProcessNews, ProcessTask } from './process-handle.ts';
import { scaleRuntime, type ScaleJob } from './scale-job.ts';

/** A process that works on sessions, or only accepts messages, and carries out what its parent asks. */
const job = JSON.parse(process.argv[2] ?? '') as ScaleJob;
const report = (news: ProcessNews): void => void process.send?.(news);
const { runtime, store } = scaleRuntime(job, (error) => report({ failed: String(error) }));

process.on('message', ({ id, method, args }: ProcessTask) => {
  const call = runtime[method].bind(runtime) as (...given: readonly unknown[]) => Promise<unknown>;
  call(...args).then(
    (result) => report({ id, result: JSON.parse(JSON.stringify(result ?? null)) }),
    (error: unknown) => report({ id, refused: AgentError.is(error) ? error.code : String(error) }),
  );
});
// the parent process has exited
process.on('disconnect', () => process.exit(1));

await store.find('warm-up');
if (job.sweeps) runtime.start();
report({ ready: true });
