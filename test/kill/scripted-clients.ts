import type { SessionRuntime } from 'onward';
import type { SessionRow } from 'onward/stores';
import { seededRandom, seedOf } from './random.ts';
import { turnScript, type TurnScript } from './turn-script.ts';
import { OWNER, type WorkerTask } from './worker-job.ts';
import type { Answer } from './worker-process.ts';
import type { WorkerSlots } from './worker-slots.ts';

export interface ClientOptions {
  readonly seed: number;
  readonly sessions: number;
  readonly turns: number;
  /** Longest pause between two turns of a session. Default 0 ms. */
  readonly pauseMs?: number;
  readonly slots: WorkerSlots;
  /** The runtime of the parent process. */
  readonly runtime: SessionRuntime;
  /** Retries a parked session. */
  readonly retry: (session: string) => Promise<unknown>;
  readonly isExcused: (code: string) => boolean;
  readonly wrong: (what: string) => void;
}

type AnswerTask = Extract<WorkerTask, { readonly do: 'answer' }>;

/** A session as its clients see it. */
interface Client {
  readonly session: string;
  /** Whether a client request is open. */
  isBusy: boolean;
  /** Number of acknowledged turns. */
  done: number;
  /** Number of messages sent. The script of the last one applies. */
  sends: number;
  script: TurnScript;
  /** When the message of this turn was acknowledged. */
  since: number;
  /** When the next turn may begin. */
  restsUntil: number;
  isDisturbed: boolean;
  answerMs: number;
  /** Calls that were answered in this turn. */
  answered: AnswerTask[];
  /** An answer to a call of an ended turn, sent again while a call of the next turn waits. */
  late: AnswerTask | null;
}

/** Longer than any statement: a worker that has not answered by then may have done the task or not. */
const ANSWER_MS = 10_000;
/** Longest time for an answer. It doubles with each late one: clients that ask again sooner pile up in the worker. */
const LONGEST_ANSWER_MS = 160_000;

/** Clients that send, answer, stop and pause as the seed says, through any worker. */
export class ScriptedClients {
  readonly #options: ClientOptions;
  readonly #clients: readonly Client[];
  #isCalm = false;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#clients = Array.from({ length: options.sessions }, (_, i) => ({
      session: `s${i}`,
      isBusy: false,
      done: 0,
      sends: 0,
      script: turnScript(options.seed, `s${i}`, 0),
      since: 0,
      restsUntil: performance.now() + restMs(options, `s${i}`, 0),
      isDisturbed: true,
      answerMs: ANSWER_MS,
      answered: [],
      late: null,
    }));
  }

  get sessions(): string[] {
    return this.#clients.map(({ session }) => session);
  }

  get isDone(): boolean {
    return this.#clients.every((client) => !client.isBusy && !this.#wantsMore(client));
  }

  /** Ends the faults: each session gets the turns it needs, and no more. */
  calm(): void {
    this.#isCalm = true;
  }

  attend(rows: readonly SessionRow[]): void {
    const bySession = new Map(rows.map((row) => [row.id, row]));
    for (const client of this.#clients) {
      if (client.isBusy) continue;
      client.isBusy = true;
      void this.#serve(client, bySession.get(client.session))
        .catch((error: unknown) => this.#parentFailed(error))
        .finally(() => {
          client.isBusy = false;
        });
    }
  }

  /** While there are faults, there has to be work for them to interrupt. */
  #wantsMore({ done }: Client): boolean {
    return done < this.#options.turns || !this.#isCalm;
  }

  #parentFailed(error: unknown): void {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!this.#options.isExcused(code)) this.#options.wrong(`a client failed: ${String(error)}`);
  }

  async #serve(client: Client, row: SessionRow | undefined): Promise<void> {
    if (!row || row.phase === 'idle') {
      await this.#answerAfterTheEnd(client);
      if (this.#wantsMore(client) && performance.now() >= client.restsUntil)
        await this.#send(client, 'refuse');
    } else if (row.phase === 'paused') await this.#resume(client);
    // workers died on it repeatedly, as on any session here, so an operator retries it
    else if (row.phase === 'parked') await this.#options.retry(client.session);
    else await this.#disturb(client);
  }

  async #disturb(client: Client): Promise<void> {
    const { session, script, since, isDisturbed } = client;
    const { disturbance } = script;
    if (!disturbance || isDisturbed || performance.now() < since + disturbance.afterMs) return;
    client.isDisturbed = true;
    const { kind } = disturbance;
    if (kind !== 'queue') await this.#ask(client, { do: kind, session });
    else if (this.#wantsMore(client)) await this.#send(client, 'queue');
  }

  /** An unacknowledged message may have been accepted: it is sent again, or another follows with a new id. */
  async #send(client: Client, whenBusy: 'refuse' | 'queue'): Promise<void> {
    const { session } = client;
    const number = ++client.sends;
    const script = turnScript(this.#options.seed, session, number);
    const { plan, isHostile, isRepeated } = script;
    const execution = `${session}-${number}`;
    const task = { do: 'send', session, execution, plan, isHostile, whenBusy } as const;
    let answer = await this.#ask(client, task);
    const isUnknown = (): boolean => answer === 'died' || isFailure(answer);
    for (let tries = 0; isRepeated && isUnknown() && tries < 3; tries++)
      answer = await this.#ask(client, task);
    if (answer === 'done') client.done += 1;
    if (whenBusy === 'queue') return;
    const since = performance.now();
    const restsUntil = since + restMs(this.#options, session, number);
    Object.assign(client, { script, since, restsUntil, isDisturbed: false });
  }

  async #resume(client: Client): Promise<void> {
    const { session } = client;
    const found = await this.#options.runtime.get(session, { owner: OWNER });
    if (found.status !== 'paused') return;
    const { pendingApprovals, executionId } = found;
    if (pendingApprovals.length === 0)
      return void (await this.#ask(client, { do: 'resume', session }));
    const { late } = client;
    client.late = null;
    if (late) await this.#ask(client, late);
    for (const { callId } of pendingApprovals) {
      const answer = client.script.answer(client.answered.length);
      const execution = executionId ?? '';
      const task = { do: 'answer', session, execution, callId, answer } as const;
      client.answered.push(task);
      await this.#ask(client, task);
      if (client.script.isAnsweredTwice) await this.#ask(client, otherWayRound(task));
    }
  }

  /** Answers a call of an ended turn, which must have no effect, now or in the next turn. */
  async #answerAfterTheEnd(client: Client): Promise<void> {
    const last = client.answered.at(-1);
    client.answered = [];
    if (!last || !client.script.isAnsweredLate) return;
    client.late = otherWayRound(last);
    await this.#ask(client, client.late);
  }

  async #ask(client: Client, task: WorkerTask): Promise<Answer> {
    const { session, sends } = client;
    const { slots, seed, isExcused, wrong } = this.#options;
    const worker = slots.from(seedOf(seed, session, sends, task.do) % slots.indexes.length);
    const answer = worker ? await worker.ask(task, client.answerMs) : 'died';
    const isLate = answer === 'died' && worker?.isGone === false;
    client.answerMs = isLate ? Math.min(2 * client.answerMs, LONGEST_ANSWER_MS) : ANSWER_MS;
    // a worker that is exiting has closed its store
    if (typeof answer !== 'object' || !worker?.isReady) return answer;
    if (!expected.has(answer.refused) && !isExcused(answer.refused))
      wrong(`${JSON.stringify(task)} was refused: ${answer.refused}`);
    return answer;
  }
}

const restMs = ({ seed, pauseMs = 0 }: ClientOptions, session: string, turn: number): number =>
  pauseMs * seededRandom(seedOf(seed, session, turn, 'pause'))();

const otherWayRound = (task: AnswerTask): AnswerTask => ({
  ...task,
  answer: task.answer === 'approve' ? 'deny' : 'approve',
});

const isFailure = (answer: Answer): boolean =>
  typeof answer === 'object' && answer.refused === 'store_failed';

/** Errors that a client with outdated data may get. */
const expected: ReadonlySet<string> = new Set([
  'conflict',
  'awaiting_approval',
  'not_resumable',
  'unknown_approval',
  'stale_approval',
  // a session that killed its workers, or seemed to, is retried manually
  'parked',
  'runtime_closed',
]);
