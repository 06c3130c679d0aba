import { isoTime } from '../clock.ts';
import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import { checkedGrant, type GrantKind, type Grants } from '../continuation/grants.ts';
import { AgentError } from '../errors/agent-error.ts';
import { uuid } from '../ids.ts';
import { AgentState } from './agent-state.ts';
import { AgentStatus } from './agent-status.ts';
import { newExecution, type Execution } from './execution.ts';
import { giveGrant, type GrantedBy } from './give-grant.ts';
import { policyOf } from './recorded-policy.ts';
import { amendRun, beginRun, type RunRecord } from './run-records.ts';
import type { Run } from './run.ts';

/** Opens a new execution on a state that ends with a new user message. */
export function startExecution(run: Run, executionId: string = uuid()): void {
  const { state } = run;
  const at = isoTime(run.now());
  const execution = newExecution(executionId, at, Math.max(0, state.messages.length - 1));
  run.state = state.with({
    agentName: run.agent.name,
    status: AgentStatus.InProgress,
    execution: { ...execution, ...recordOf(run, execution, at) },
    executionStartedAt: run.parent ? null : at,
    lastContinuationOutcome: null,
    pause: null,
    output: null,
    partialOutput: null,
  });
  identify(run);
}

/** The records of an execution with one of this run. A nested agent has none: its runs are those of its parent. */
const recordOf = (
  run: Run,
  execution: Execution,
  at: string,
  more: Partial<RunRecord> = {},
): Pick<Execution, 'runs'> =>
  run.parent
    ? {}
    : {
        runs: beginRun(execution, {
          at,
          afterStep: execution.stepCount,
          policy: policyOf(run.agent).hash,
          ...more,
        }),
      };

/** Continues an open execution: the wall clock restarts, the totals stay. */
export function continueRun(
  run: Run,
  grant?: Grants,
  granted?: GrantedBy,
  { isSameRun = false }: { readonly isSameRun?: boolean } = {},
): void {
  const { state } = run;
  const { execution } = state;
  const at = isoTime(run.now());
  const by = granted?.by ?? null;
  const given = grant && granted && giveGrant(execution, grant, granted);
  run.grant = given?.grantLog?.at(-1) ?? null;
  run.state = state.with({
    agentName: run.agent.name,
    status: AgentStatus.InProgress,
    execution: {
      ...execution,
      ...given,
      ...(!isSameRun &&
        recordOf(run, execution, at, {
          ...(by !== null && { by }),
          ...(grant && { grant: { ...grant } }),
        })),
      stretchSeconds: null,
    },
    executionStartedAt: run.parent ? null : at,
    pause: state.unfinishedStep ? state.pause : null,
  });
  run.usedIds = idsKept.get(state) ?? idsUsedIn(state);
  identify(run);
}

/** Keeps the used call ids and the run clock for the next `nextStep`. */
export function keepForNextStep(run: Run): void {
  idsKept.set(run.state, run.usedIds);
  timesKept.set(run.state.execution, run.now);
}

const idsKept = new WeakMap<AgentState, Set<string>>();
/** Keyed by execution, because a state with a new message has the same one. */
const timesKept = new WeakMap<Execution, Run['now']>();

/** Continues an execution without restarting its wall clock; a restored state has none and restarts it. */
export function continueInTime(run: Run): void {
  const { executionStartedAt, execution } = run.state;
  run.now = (executionStartedAt !== null && timesKept.get(execution)) || run.now;
  continueRun(run, undefined, undefined, { isSameRun: executionStartedAt !== null });
  if (executionStartedAt === null) return;
  const { stretchSeconds } = execution;
  run.state = run.state.with({
    executionStartedAt,
    execution: { ...run.state.execution, stretchSeconds },
  });
}

/** Collects used call ids from steps and messages: a slim state of an open execution may lack steps, not messages. */
function idsUsedIn({ messages, steps, execution, unfinishedStep }: AgentState): Set<string> {
  const used = new Set(unfinishedStep?.toolCalls.map((call) => call.id));
  for (const message of messages.slice(execution.firstMessage))
    for (const call of message.toolCalls) used.add(call.id);
  for (let i = steps.length - 1; i >= 0; i--) {
    const step = steps.at(i);
    if (step?.executionId !== execution.id) break;
    for (const call of step.toolCalls) used.add(call.id);
  }
  return used;
}

/** Reopens an ended execution with a grant, or throws with the missing grants. */
export function reopen(run: Run, given: Grants | undefined, granted: GrantedBy): void {
  const { state } = run;
  const outcome = state.lastContinuationOutcome;
  const decisive = outcome?.decisive;
  if (!outcome || !decisive?.remedy?.grant) throw notResumable(state, decisive);
  const grant = given === undefined ? {} : checkedGrant(given);
  const { stopRequest } = state.execution;
  if (stopRequest)
    run.state = state.with({
      execution: { ...state.execution, ...amendRun(state.execution, { stop: stopRequest }) },
    });
  continueRun(run, given && grant, granted);
  const { execution } = run.state;
  const seconds = outcome.resolvedBy === 'ExecutionTimeLimit' ? grant.seconds : undefined;
  run.state = run.state.with({
    execution: {
      ...execution,
      ...amendRun(execution, {
        isReopened: true,
        ...(seconds !== undefined && { seconds }),
      }),
      handledStep: execution.stepCount,
      stopRequest: null,
      stretchSeconds: seconds ?? null,
    },
    pause: null,
    output: null,
    partialOutput: null,
  });
  const missing = missingGrants(run, outcome.evaluations, grant);
  if (missing.length > 0) throw grantMissing(state, missing);
}

interface Missing {
  readonly kind: GrantKind | null;
  readonly amount: number;
  readonly evaluation: ContinuationEvaluation;
}

/** Lists obstacles that remain: grants that the last outcome needs, and limits that would forbid at once. */
function missingGrants(
  run: Run,
  last: readonly ContinuationEvaluation[],
  grant: Grants,
): readonly Missing[] {
  const missing = new Map<string, Missing>();
  const note = (evaluation: ContinuationEvaluation): void => {
    const asked = Object.entries(evaluation.remedy?.grant ?? {}) as [GrantKind, number][];
    if (asked.length === 0)
      missing.set(evaluation.criterion, { kind: null, amount: 0, evaluation });
    for (const [kind, amount] of asked) missing.set(kind, { kind, amount, evaluation });
  };
  for (const evaluation of last) {
    const kinds = Object.keys(evaluation.remedy?.grant ?? {}) as GrantKind[];
    if (evaluation.decision === 'forbid' && kinds.some((kind) => grant[kind] === undefined))
      note(evaluation);
  }
  const now = run.agent.criteria.evaluate(run.state, { now: run.now(), deps: run.deps });
  for (const evaluation of now.evaluations) if (evaluation.decision === 'forbid') note(evaluation);
  return [...missing.values()];
}

function grantMissing(state: AgentState, missing: readonly Missing[]): AgentError {
  const blocking = missing.filter(({ kind }) => kind === null);
  const grants = missing.filter(({ kind }) => kind !== null);
  const reasons = missing.map(({ evaluation: e }) => `${e.criterion}: ${e.reason}`).join('; ');
  const wanted = grants.map(({ kind, amount }) => `${kind}: ${amount}`).join(', ');
  const todo =
    blocking.length > 0
      ? 'No grant helps: send a new message.'
      : `Call resume(state, { grant: { ${wanted} } }), or grant as much as is needed.`;
  return new AgentError(
    'not_resumable',
    `This execution cannot continue yet (${reasons}). ${todo}`,
    {
      details: { stopReason: state.stopReason, missing: grants.map(({ kind }) => kind) },
    },
  );
}

function notResumable(state: AgentState, decisive: ContinuationEvaluation | undefined): AgentError {
  const why = decisive ? `${decisive.criterion}: ${decisive.reason}` : 'nothing has run yet';
  return new AgentError(
    'not_resumable',
    `This execution is ${state.status} (${why}), and no grant can reopen it. ` +
      'Send a new message: run(state.withUserMessage(...)).',
    { details: { status: state.status, stopReason: state.stopReason, missing: [] } },
  );
}

function identify(run: Run): void {
  const { agentId, parentAgentId, execution } = run.state;
  run.events.identify(agentId, parentAgentId, execution.id);
}
