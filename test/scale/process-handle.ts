import { fork, type ChildProcess } from 'node:child_process';
import type { Session } from 'onward';
import type { ScaleJob } from './scale-job.ts';

type Method = 'create' | 'send' | 'stop' | 'approve' | 'get';

/** A call of a method of the runtime in another process. */
export interface ProcessTask {
  readonly id: number;
  readonly method: Method;
  readonly args: readonly unknown[];
}

export type ProcessNews =
  | { readonly ready: true }
  | { readonly failed: string }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly refused: string };

/** A session, or the code of the error. */
export type Reply = Session | { readonly refused: string };

/** A process with a runtime, as its parent sees it. It exits with the parent. */
export class ProcessHandle {
  readonly pid: number;
  readonly ready: Promise<void>;
  readonly exit: Promise<unknown>;
  /** Failures that its runtime reported. */
  readonly failures: string[] = [];
  readonly #child: ChildProcess;
  readonly #waiting: Map<number, (reply: Reply) => void> = new Map();
  #tasks = 0;

  constructor(file: string, job: ScaleJob) {
    this.#child = fork(file, [JSON.stringify(job)], { execArgv: [], stdio: 'inherit' });
    this.pid = this.#child.pid ?? 0;
    this.exit = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        for (const answer of this.#waiting.values()) answer({ refused: 'died' });
        resolve(signal ?? code);
      });
    });
    this.ready = new Promise((resolve, reject) => {
      void this.exit.then((how) => reject(new Error(`A process ended (${String(how)}).`)));
      this.#child.on('message', (news: ProcessNews) => {
        if ('ready' in news) resolve();
        else if ('failed' in news) this.failures.push(news.failed);
        else this.#settle(news);
      });
    });
    this.ready.catch(() => {}); // it may be killed before it is awaited
  }

  call(method: Method, ...args: readonly unknown[]): Promise<Reply> {
    const id = ++this.#tasks;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.send({ id, method, args } satisfies ProcessTask, () => {});
    });
  }

  /** Sends SIGKILL. */
  kill(): Promise<unknown> {
    this.#child.kill('SIGKILL');
    return this.exit;
  }

  #settle(news: Extract<ProcessNews, { readonly id: number }>): void {
    const { id } = news;
    const reply = 'refused' in news ? { refused: news.refused } : (news.result as Session);
    this.#waiting.get(id)?.(reply);
    this.#waiting.delete(id);
  }
}
