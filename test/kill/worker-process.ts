import { fork, type ChildProcess } from 'node:child_process';
import { sleep } from './random.ts';
import type { WorkerJob, WorkerNews, WorkerReply, WorkerTask } from './worker-job.ts';

const START_MS = 60_000;

/** How a request to a worker ended. `died`: the process died before it answered, or the request timed out. */
export type Answer = 'done' | 'died' | { readonly refused: string };

/** A worker as its parent sees it. It exits with the parent. */
export class WorkerProcess {
  readonly pid: number;
  /** Rejects if the process does not start. */
  readonly ready: Promise<void>;
  readonly exit: Promise<NodeJS.Signals | number | null>;
  isReady = false;
  isGone = false;
  /** What it reported before it killed itself. */
  dying: string | null = null;
  /** Failures that its runtime reported. */
  readonly failures: { readonly failed: string; readonly code: string }[] = [];
  readonly #child: ChildProcess;
  readonly #waiting: Map<number, (answer: Answer) => void> = new Map();
  #requests = 0;
  #stderr = '';

  constructor(file: string, job: WorkerJob, env: Readonly<Record<string, string>> = {}) {
    this.#child = fork(file, [JSON.stringify(job)], {
      execArgv: [],
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.pid = this.#child.pid ?? 0;
    this.#child.stderr?.on('data', (data: Buffer) => (this.#stderr += data.toString()));
    this.exit = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.isGone = true;
        this.isReady = false;
        for (const answer of this.#waiting.values()) answer('died');
        resolve(signal ?? code);
      });
    });
    this.ready = this.#comesUp();
    this.ready.catch(() => {}); // it may be killed before it is awaited
  }

  /** What it wrote to stderr. */
  get complaints(): string {
    return this.#stderr.trim();
  }

  /** Sends a task. `withinMs` sets a timeout. */
  ask(task: WorkerTask, withinMs?: number): Promise<Answer> {
    if (this.isGone) return Promise.resolve('died');
    const id = ++this.#requests;
    return new Promise((resolve) => {
      const late = withinMs === undefined ? withinMs : setTimeout(() => answered('died'), withinMs);
      const answered = (answer: Answer): void => {
        clearTimeout(late);
        this.#waiting.delete(id);
        resolve(answer);
      };
      this.#waiting.set(id, answered);
      // a closed channel is reported as the exit of the process
      this.#child.send({ id, ...task }, () => {});
    });
  }

  /** Sends SIGKILL. */
  kill(): Promise<unknown> {
    this.#child.kill('SIGKILL');
    return this.exit;
  }

  /** Suspends it like a sleeping machine: it continues later without noticing. */
  async freeze(ms: number): Promise<void> {
    this.#child.kill('SIGSTOP');
    this.isReady = false;
    await sleep(ms);
    this.#child.kill('SIGCONT');
    this.isReady = !this.isGone;
  }

  #comesUp(): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('A worker did not come up.')), START_MS);
      void this.exit.then((how) => {
        clearTimeout(late);
        reject(new Error(`A worker ended (${how}) before it was ready. ${this.complaints}`));
      });
      this.#child.on('message', (news: WorkerNews) => {
        if ('ready' in news) {
          clearTimeout(late);
          this.isReady = true;
          resolve();
        } else if ('dying' in news) this.dying = news.dying;
        else if ('failed' in news) this.failures.push(news);
        else this.#settle(news);
      });
    });
  }

  #settle({ id, refused }: WorkerReply): void {
    this.#waiting.get(id)?.(refused === undefined ? 'done' : { refused });
  }
}
