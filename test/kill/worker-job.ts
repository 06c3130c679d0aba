import { SessionRuntime, type LeaseTimes, type SessionStore } from 'onward';
import { effectLog, type WriteEffect } from './effect-log.ts';
import { killAgent, type Plan } from './kill-agent.ts';
import type { StorePlace } from './open-store.ts';
import { seededRandom } from './random.ts';

/** What a worker process is started with. */
export interface WorkerJob {
  readonly place: StorePlace;
  /** The file that all processes of a campaign append to. */
  readonly log: string;
  readonly seed: number;
  readonly lease: LeaseTimes;
}

/** A request to a worker process, and its answer. */
export type WorkerRequest = { readonly id: number } & WorkerTask;
export type WorkerTask =
  | {
      readonly do: 'send';
      readonly session: string;
      readonly execution: string;
      readonly plan: Plan;
      readonly isHostile?: boolean;
      readonly whenBusy: 'refuse' | 'queue';
    }
  | {
      readonly do: 'answer';
      readonly session: string;
      readonly execution: string;
      readonly callId: string;
      readonly answer: 'approve' | 'deny';
    }
  | { readonly do: 'stop' | 'pause' | 'resume'; readonly session: string }
  /** For commit points: one session from its making to its end, dying at the given point. */
  | {
      readonly do: 'whole';
      readonly session: string;
      readonly plan: Plan;
      readonly die: Death;
    }
  | { readonly do: 'close' };

/** Before or after write number `point` of the store, or where a tool has left line number `point`. */
export interface Death {
  readonly when: 'before' | 'after' | 'effect';
  readonly point: number;
}

export interface WorkerReply {
  readonly id: number;
  /** Code of the error where it was refused. */
  readonly refused?: string;
}

export type WorkerNews =
  | WorkerReply
  | { readonly ready: true }
  | { readonly dying: string }
  | { readonly failed: string; readonly code: string };

export const OWNER = 'ann';

/** The runtime as every process of a campaign has it: same agent, same log of effects. */
export function killRuntime(
  { log, seed, lease }: WorkerJob,
  store: SessionStore,
  given: {
    readonly onError: (error: unknown) => void;
    readonly reached?: (effect: string) => void;
    readonly tokenOf?: (session: string) => number;
  },
): { readonly runtime: SessionRuntime; readonly write: WriteEffect } {
  const write = effectLog(log);
  const { onError, ...rest } = given;
  const agent = killAgent({ write, random: seededRandom(seed), ...rest });
  const runtime = new SessionRuntime({
    store,
    agents: [agent],
    lease,
    maxMessages: 40,
    deps: ({ id }) => ({ session: id }),
    onError,
  });
  runtime.wiretap(({ sessionId: session, seq, event }) => {
    if (seq === null) return;
    const { type, executionId: execution, agentId, parentAgentId } = event;
    const agentKey = parentAgentId === null ? '' : agentId;
    let detail = '-';
    if ('toolCallId' in event) detail = event.toolCallId;
    if (type === 'AgentStepCompleted') detail = `${agentKey}#${event.stepNumber}`;
    if (type === 'AgentFinished' || type === 'AgentFailed') detail = `${agentKey}#end`;
    write({ kind: 'heard', session, execution, subject: String(seq), what: type, detail });
  });
  return { runtime, write };
}
