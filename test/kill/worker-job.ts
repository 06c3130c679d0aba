import { SessionRuntime, type SessionRuntimeOptions } from 'onward';
import type { SessionStore } from 'onward/stores';
import type { LeaseTimes } from '../../src/sessions/lease-keeper.ts';
import { effectLog, type WriteEffect } from './effect-log.ts';
import { killAgent, type Plan } from './kill-agent.ts';
import type { StorePlace } from './open-store.ts';
import { seededRandom } from './random.ts';
import type { SharedPlaces } from '../scale/shared-options.ts';

/** The job of a worker process. */
export interface WorkerJob {
  readonly place: StorePlace;
  /** The file that all processes of a campaign append to. */
  readonly log: string;
  readonly seed: number;
  readonly lease: LeaseTimes;
  /** How many times longer tools and model calls take. Default 1. */
  readonly pace?: number;
  /** How processes reach each other. Default: through the store alone. */
  readonly shared?: SharedPlaces;
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
  /** For commit points: runs one session from start to end and dies at the given point. */
  | {
      readonly do: 'whole';
      readonly session: string;
      readonly plan: Plan;
      readonly die: Death;
    }
  | { readonly do: 'close' };

/** Dies before or after write number `point` of the store, or after tool effect number `point`. */
export interface Death {
  readonly when: 'before' | 'after' | 'effect';
  readonly point: number;
}

export interface WorkerReply {
  readonly id: number;
  /** Error code of a refused request. */
  readonly refused?: string;
}

export type WorkerNews =
  | WorkerReply
  | { readonly ready: true }
  | { readonly dying: string }
  | { readonly failed: string; readonly code: string };

export const OWNER = 'ann';

/** The runtime of every process in a campaign: same agent, same effect log. */
export function killRuntime(
  { log, seed, lease, pace = 1 }: WorkerJob,
  store: SessionStore,
  given: {
    readonly onError: (error: unknown) => void;
    readonly reached?: (effect: string) => void;
    readonly tokenOf?: (session: string) => number;
    readonly options?: Pick<SessionRuntimeOptions, 'bus' | 'queue' | 'work'>;
  },
): { readonly runtime: SessionRuntime; readonly write: WriteEffect } {
  const write = effectLog(log);
  const { onError, options, ...rest } = given;
  const agent = killAgent({ write, random: seededRandom(seed), pace, ...rest });
  const runtime = new SessionRuntime({
    store,
    agents: [agent],
    lease,
    maxMessages: 40,
    deps: ({ id }) => ({ session: id }),
    onError,
    ...options,
  });
  runtime.wiretap(({ sessionId: session, seq, event }) => {
    if (seq === null) return;
    const { type, executionId: execution, agentId, parentAgentId } = event;
    const agentKey = parentAgentId === null ? '' : agentId;
    let detail = '-';
    if ('toolCallId' in event) detail = event.toolCallId;
    if (type === 'AgentStepCompleted') detail = `${agentKey}#${event.stepNumber}`;
    // a parked session is retried, and continues
    const isParked = type === 'AgentFailed' && event.error?.code === 'parked';
    if (type === 'AgentFinished' || (type === 'AgentFailed' && !isParked))
      detail = `${agentKey}#end`;
    write({ kind: 'received', session, execution, subject: String(seq), what: type, detail });
  });
  return { runtime, write };
}
