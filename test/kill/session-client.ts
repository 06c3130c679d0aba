import { AgentError, type SessionRuntime } from 'onward';
import type { WriteEffect } from './effect-log.ts';
import { planText, readPlan, type Plan } from './kill-agent.ts';
import { sleep } from './random.ts';
import { OWNER, type WorkerTask } from './worker-job.ts';

type Task<D extends WorkerTask['do']> = Extract<WorkerTask, { readonly do: D }>;

/** Acts as a client and logs its requests with their results. */
export class SessionClient {
  readonly #runtime: SessionRuntime;
  readonly #write: WriteEffect;

  constructor(runtime: SessionRuntime, write: WriteEffect) {
    this.#runtime = runtime;
    this.#write = write;
  }

  /** Creates the session if it does not exist, then sends the message. */
  async send(task: Omit<Task<'send'>, 'do'>): Promise<void> {
    const { session, execution, plan, isHostile, whenBusy } = task;
    const text = planText(execution, plan, isHostile);
    const effect = { session, execution };
    this.#write({ kind: 'sending', ...effect });
    const send = () =>
      this.#runtime.send(session, text, { owner: OWNER, executionId: execution, whenBusy });
    try {
      await send().catch(async (error: unknown) => {
        if (!AgentError.is(error, 'session_not_found')) throw error;
        await this.#create(session);
        return send();
      });
    } catch (error) {
      // after a store failure, the result is unknown
      if (!AgentError.is(error, 'store_failed'))
        this.#write({ kind: 'refused', ...effect, what: codeOf(error) });
      throw error;
    }
    this.#write({ kind: 'accepted', ...effect });
  }

  async answer({ session, execution, callId, answer }: Omit<Task<'answer'>, 'do'>): Promise<void> {
    const effect = { session, execution, subject: callId, what: answer };
    this.#write({ kind: 'answering', ...effect });
    const options = { owner: OWNER, executionId: execution, reason: 'no' };
    if (answer === 'approve') await this.#runtime.approve(session, callId, options);
    else await this.#runtime.deny(session, callId, options);
    this.#write({ kind: 'answered', ...effect });
  }

  async stop({ session }: { readonly session: string }): Promise<void> {
    this.#write({ kind: 'stopping', session });
    await this.#runtime.stop(session, { owner: OWNER });
  }

  /** Completes one turn from any state of the session. */
  async wholeTurn(session: string, plan: Plan): Promise<void> {
    for (let sends = 0; ; await sleep(5)) {
      const now = await this.#runtime.get(session, { owner: OWNER }).catch(noSession);
      if (now?.status === 'paused')
        for (const { callId } of now.pendingApprovals)
          await this.answer({
            session,
            execution: now.executionId ?? '',
            callId,
            answer: 'approve',
          }).catch(alreadyAnswered);
      else if (now === null || now.status !== 'in_progress') {
        if (now && (await this.#hasBegun(session))) return;
        const execution = `${session}-${process.pid}-${++sends}`;
        await this.send({ session, execution, plan, whenBusy: 'refuse' });
      }
    }
  }

  async #hasBegun(session: string): Promise<boolean> {
    const { items } = await this.#runtime.messages(session, { owner: OWNER });
    return items.some(({ content }) => readPlan(content) !== null);
  }

  async #create(id: string): Promise<void> {
    await this.#runtime.create({ id, owner: OWNER }).catch((error: unknown) => {
      if (!AgentError.is(error, 'conflict')) throw error;
    });
  }
}

export const codeOf = (error: unknown): string =>
  AgentError.is(error) ? error.code : String(error).replaceAll(/\s+/g, '_');

function noSession(error: unknown): null {
  if (AgentError.is(error, 'session_not_found')) return null;
  throw error;
}

function alreadyAnswered(error: unknown): void {
  if (!AgentError.is(error, 'conflict')) throw error;
}
