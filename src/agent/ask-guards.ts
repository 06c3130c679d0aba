import { Cancelled } from '../cancellation.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import { messageOf } from '../errors/error-record.ts';
import { usageOf, type Usage } from '../inference/usage.ts';
import { isRecord } from '../json.ts';
import { durationText } from '../number-text.ts';
import { withoutFullStop } from '../sentence.ts';
import { visibleLines } from '../visible-text.ts';
import { GuardBlocked, type AgentGuard, type GuardRecord } from './guard.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';

/** Usage of a model that a guard has called. */
export interface GuardUsage {
  readonly usage: Partial<Usage>;
  /** Null if the price is unknown. */
  readonly cost?: number | null;
}

/** What every guard gets besides what it checks. */
export interface GuardContext<Deps = {}> {
  readonly state: Run['state'];
  readonly owner: string | null;
  readonly deps: Deps;
  /** Signal that aborts on the guard's timeout, when another guard has blocked, and when the run is stopped. */
  readonly signal: AbortSignal;
  /** Counts the usage of a model or agent that the guard calls: `addUsage(state.execution)`. */
  addUsage(spent: GuardUsage): void;
}

/** Maximum characters of a reason or message. */
const MAX_TEXT = 500;

/**
 * Asks guards at the same time and adds what they decide to the step. Rejects with {@link GuardBlocked} as soon as one
 * blocks, and with `Cancelled` if the run is cancelled before.
 */
export async function askGuards(
  run: Run,
  draft: StepDraft,
  guards: readonly AgentGuard[],
  input: object,
  tools?: readonly string[],
): Promise<void> {
  const over = new AbortController();
  const { signal: stopped } = run.cancellation;
  const signal = AbortSignal.any([stopped, over.signal]);
  let isOver = false;
  const ask = async (guard: AgentGuard): Promise<void> => {
    const record = await decision(run, draft, guard, input, signal);
    if (isOver) return;
    (draft.guards ??= []).push(
      tools && record.decision === 'blocked' ? { ...record, tools } : record,
    );
    if (record.decision === 'blocked') throw new GuardBlocked(record.reason);
  };
  try {
    await Promise.all(guards.map(ask));
  } finally {
    isOver = true;
    over.abort();
  }
}

async function decision(
  run: Run,
  draft: StepDraft,
  guard: AgentGuard,
  input: object,
  signal: AbortSignal,
): Promise<GuardRecord> {
  const { name, at, onError } = guard;
  const began = run.now();
  const record = (more: Pick<GuardRecord, 'decision' | 'reason' | 'message' | 'cause'>) => ({
    name,
    at,
    ...more,
    durationMs: Math.round((run.now() - began) * 1000) / 1000,
  });
  const text = (given: string): string => visibleLines(run.redactor.text(given)).slice(0, MAX_TEXT);
  try {
    const answer = await inTime(run, draft, guard, input, signal);
    if (answer === undefined || answer === null) return record({ decision: 'passed' });
    if (!isRecord(answer) || typeof answer['block'] !== 'string')
      throw new Error(`it returned ${show(answer)}, expected nothing or { block: reason }`);
    const { block, message } = answer;
    return record({
      decision: 'blocked',
      reason: text(block),
      ...(typeof message === 'string' && { message: text(message) }),
    });
  } catch (error) {
    if (run.cancellation.cause) throw new Cancelled(run.cancellation.cause);
    // the script of a test
    if (AgentError.is(error, 'script_exhausted')) throw error;
    return record({
      decision: onError === 'pass' ? 'passed' : 'blocked',
      cause: error instanceof GuardTimeout ? 'timeout' : 'failed',
      reason: text(withoutFullStop(messageOf(error))),
    });
  }
}

class GuardTimeout extends Error {
  override readonly name = 'GuardTimeout';
}

async function inTime(
  run: Run,
  draft: StepDraft,
  { name, check, timeoutMs }: AgentGuard,
  input: object,
  outer: AbortSignal,
): Promise<unknown> {
  const late = new AbortController();
  const context: GuardContext<Run['deps']> = {
    state: run.state,
    owner: run.owner,
    deps: run.deps,
    signal: AbortSignal.any([outer, late.signal]),
    addUsage: ({ usage, cost = null }) => {
      // a guard may finish after its step
      if (!outer.aborted) draft.guardUsage.push({ agent: name, usage: usageOf(usage), cost });
    },
  };
  let stopTimer: (() => void) | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    stopTimer = run.clock.after(timeoutMs, () => {
      late.abort();
      reject(new GuardTimeout(`it did not finish in ${durationText(timeoutMs)}`));
    });
  });
  try {
    const asked = (async () => check({ ...input, ...context } as never))();
    return await run.cancellation.race(Promise.race([asked, timeout]));
  } finally {
    stopTimer?.();
  }
}
