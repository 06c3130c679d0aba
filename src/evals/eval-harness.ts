import type { Agent } from '../agent/agent.ts';
import { AgentState } from '../agent/agent-state.ts';
import type { ApprovalAnswer } from '../agent/approval-answer.ts';
import { positive } from '../errors/agent-error.ts';
import type { AgentEvent, PendingApproval } from '../events/agent-event.ts';
import { Message } from '../messages/message.ts';
import type { EvalCase } from './eval-case.ts';
import type { EvalRun } from './eval-run.ts';
import { evalRunOf } from './eval-run-of.ts';
import { recordRun, type EvalRecorder } from './record-run.ts';

/** How calls that need approval are answered: `approve` or `deny` all, or a function that answers each. */
export type EvalApprovals =
  | 'approve'
  | 'deny'
  | ((call: PendingApproval, evalCase: EvalCase) => ApprovalAnswer | null);

interface HarnessBase<Deps> {
  /** The agent, or a function that makes one for each run, such as one with its own scripted model. */
  readonly agent: Agent<Deps> | ((evalCase: EvalCase) => Agent<Deps> | Promise<Agent<Deps>>);
  /** Answers to calls that need approval. Default: none, so the run ends paused. */
  readonly approvals?: EvalApprovals;
  /** Maximum seconds of a run. Default 300. */
  readonly timeoutSeconds?: number;
}

/** Options of a harness; `deps` is required if the agent needs dependencies. */
export type HarnessOptions<Deps = {}> = HarnessBase<Deps> &
  ({} extends Deps ? { readonly deps?: DepsFor<Deps> } : { readonly deps: DepsFor<Deps> });

/** Dependencies of all runs, or a function that makes them for each. */
type DepsFor<Deps> = Deps | ((evalCase: EvalCase) => Deps | Promise<Deps>);

interface HarnessRunOptions {
  readonly signal?: AbortSignal;
  /** Records the run as a session. A case with `messages` is not recorded. */
  readonly record?: EvalRecorder;
}

/** Runs cases. */
export interface EvalHarness {
  /** Runs a case, or one message, and returns the run with its trace. */
  run(evalCase: EvalCase | string, options?: HarnessRunOptions): Promise<EvalRun>;
}

/** Rounds of approvals in one run. */
const MAX_ROUNDS = 100;
/** Events that are kept for the trace of a run. */
const MAX_EVENTS = 100_000;
const DEFAULT_TIMEOUT_SECONDS = 300;

/** Creates a harness, which works with every test runner and without one. */
export function evalHarness<Deps = {}>(options: HarnessOptions<Deps>): EvalHarness {
  const { agent, deps, approvals, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = options;
  positive('timeoutSeconds', timeoutSeconds);
  return {
    async run(given, { signal: outer, record } = {}) {
      const evalCase = typeof given === 'string' ? { name: given, input: given } : given;
      const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
      const signal = outer ? AbortSignal.any([outer, timeout]) : timeout;
      const work = async (): Promise<EvalRun> => {
        const made = typeof agent === 'function' ? await agent(evalCase) : agent;
        const given = typeof deps === 'function' ? await (deps as DepsMaker<Deps>)(evalCase) : deps;
        const ready = given === undefined ? (made as Agent) : made.withDeps(given);
        return runCase(ready, evalCase, { signal, approvals, record });
      };
      const isLate = (): boolean => timeout.aborted && outer?.aborted !== true;
      const run = await beforeAbort(work(), signal).catch((error: unknown) => {
        throw isLate() ? timedOut(timeoutSeconds) : error;
      });
      if (isLate()) throw timedOut(timeoutSeconds);
      return run;
    },
  };
}

type DepsMaker<Deps> = (evalCase: EvalCase) => Deps | Promise<Deps>;

interface CaseOptions {
  readonly signal: AbortSignal;
  readonly approvals: EvalApprovals | undefined;
  readonly record: EvalRecorder | undefined;
}

async function runCase(
  agent: Agent,
  evalCase: EvalCase,
  { signal, approvals, record }: CaseOptions,
): Promise<EvalRun> {
  const answers = (pending: readonly PendingApproval[]): Readonly<Record<string, ApprovalAnswer>> =>
    approvals ? answersTo(pending, approvals, evalCase) : {};
  if (record && !evalCase.messages)
    return recordRun(agent, evalCase, { ...record, signal, answers, maxRounds: MAX_ROUNDS });
  const events: AgentEvent[] = [];
  const options = {
    signal,
    wiretap(event: AgentEvent) {
      if (isTraced(event) && events.length < MAX_EVENTS) events.push(event);
    },
  };
  let state = await agent.run(conversationOf(evalCase), options);
  for (let round = 0; state.status === 'paused' && round < MAX_ROUNDS; round++) {
    const given = answers(state.pendingApprovals);
    if (Object.keys(given).length === 0) break;
    state = await agent.resume(state, { ...options, approvals: given });
  }
  return evalRunOf(state, events);
}

/** Pieces of texts and arguments are not part of a trace. */
const isTraced = ({ type }: AgentEvent): boolean =>
  type !== 'StreamChunk' && type !== 'ReasoningDelta' && type !== 'ToolCallDelta';

function conversationOf({ input, messages }: EvalCase): AgentState {
  const empty = AgentState.empty();
  return messages
    ? empty.withMessages(...messages.map((message) => Message.from(message)))
    : empty.withUserMessage(input ?? '');
}

function answersTo(
  pending: readonly PendingApproval[],
  approvals: EvalApprovals,
  evalCase: EvalCase,
): Readonly<Record<string, ApprovalAnswer>> {
  const given = pending.flatMap((call): [string, ApprovalAnswer][] => {
    const answer =
      approvals === 'approve'
        ? { approve: true as const }
        : approvals === 'deny'
          ? { deny: 'Denied by the eval.' }
          : approvals(call, evalCase);
    return answer ? [[call.callId, answer]] : [];
  });
  return Object.fromEntries(given);
}

/** Waits for the work, but not for work that ignores an abort. */
async function beforeAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort = (): void => {};
  const late = new Promise<never>((_resolve, reject) => {
    onAbort = () => {
      // work that heeds the signal ends first, with its own result
      timer = setTimeout(() => reject(signal.reason as Error), ABORT_GRACE_MS);
    };
  });
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, late]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    clearTimeout(timer);
  }
}

/** Milliseconds in which aborted work may end by itself. */
const ABORT_GRACE_MS = 2_000;

const timedOut = (seconds: number): DOMException =>
  new DOMException(
    `The run took longer than ${seconds} seconds. Raise timeoutSeconds, or find out what waits.`,
    'TimeoutError',
  );
