import type { AgentStepJSON } from '../../agent/agent-state.ts';
import { canonicalJson } from '../../json.ts';
import type { StoredModelCall } from '../../sessions/requests/read-model-call.ts';
import type { OwnerOptions } from '../../sessions/session-options.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import { addCost } from '../../inference/usage.ts';
import { PayloadTexts } from '../payloads/payload-text.ts';
import { responseDocument } from '../payloads/request-document.ts';
import { readTrace } from '../read-trace.ts';
import type { Trace } from '../trace.ts';
import { causeOf } from './request-places.ts';
import type {
  Cause,
  ComparedAnswer,
  ComparedRow,
  ComparedRun,
  ComparedStep,
  Comparison,
  Difference,
} from './comparison.ts';

export interface RunPlace {
  readonly sessionId: string;
  /** Run to compare. Default: the newest, or the one that a fork continues. */
  readonly executionId?: string;
}

export interface CompareOptions extends OwnerOptions {
  readonly left: RunPlace;
  readonly right: RunPlace;
}

/** Most steps of a side that are compared. */
const MOST_STEPS = 200;

/** Compares two runs of one owner step by step, up to 200 steps of each. */
export async function compareRuns(
  runtime: SessionRuntime,
  { owner, left, right }: CompareOptions,
): Promise<Comparison> {
  const b = await runOf(runtime, owner, right, null);
  const a = await runOf(runtime, owner, left, b.steps[0]?.id ?? null);
  let same = 0;
  while (same < a.steps.length && same < b.steps.length && (await isSame(a, b, same))) same += 1;
  const shared = a.steps.slice(0, same);
  const isShared = same > 0 && shared.every(({ id }, i) => b.steps[i]?.id === id);
  const isOver = same === a.steps.length && same === b.steps.length;
  const difference = isOver ? null : await differenceAt(a, b, same);
  return {
    kind: isShared ? 'fork' : 'sessions',
    left: a.run,
    right: b.run,
    same: {
      steps: same,
      durationMs: shared.reduce((sum, { durationMs }) => sum + durationMs, 0),
      cost: shared.reduce<number | null>((sum, { cost }) => addCost(sum, cost), 0),
      isShared,
    },
    difference,
    rows: isOver ? [] : rowsOf(a, b, same),
    hasMore: a.hasMore || b.hasMore,
  };
}

interface Side {
  readonly run: ComparedRun;
  readonly steps: readonly AgentStepJSON[];
  readonly hasMore: boolean;
  /** Reads a step with its answer and, unless `bare`, its request. */
  readonly read: (step: number, bare: boolean) => Promise<StoredModelCall>;
}

/** Reads one side. `shared` is the first step of the other side: a fork has it in one of its runs too. */
async function runOf(
  runtime: SessionRuntime,
  owner: string,
  { sessionId, executionId: asked }: RunPlace,
  shared: string | null,
): Promise<Side> {
  const session = await runtime.get(sessionId, { owner });
  const executionId = asked ?? (await sharedRun(runtime, owner, sessionId, shared)) ?? undefined;
  const trace = await readTrace(runtime, sessionId, {
    owner,
    limit: 1,
    ...(executionId !== undefined && { executionId }),
  });
  const of = trace.executionId === null ? {} : { executionId: trace.executionId };
  const steps = await stepsOf(runtime, owner, trace);
  return {
    run: comparedRun(trace, session.title ?? null),
    steps,
    hasMore: (steps.at(-1)?.number ?? 0) < (trace.steps.at(-1)?.number ?? 0),
    read: (step, bare) => runtime.modelCall(sessionId, { owner, step, bare, ...of }),
  };
}

/** Finds the run that has a step; null if none of the newest steps is it. */
async function sharedRun(
  runtime: SessionRuntime,
  owner: string,
  sessionId: string,
  stepId: string | null,
): Promise<string | null> {
  if (stepId === null) return null;
  const { items } = await runtime.steps(sessionId, { owner, limit: 500, omitLarge: true });
  const at = items.findIndex(({ id }) => id === stepId);
  const found = items[at];
  if (!found) return null;
  // a fork continues under another id: the last step of the run names it
  const end = items.findIndex((step, i) => i > at && step.number <= 1);
  return items[(end === -1 ? items.length : end) - 1]?.executionId ?? found.executionId;
}

/** Reads the first steps of a run. */
async function stepsOf(
  runtime: SessionRuntime,
  owner: string,
  { sessionId, executionId, executions }: Trace,
): Promise<readonly AgentStepJSON[]> {
  const at = executions.findIndex(({ id }) => id === executionId);
  const behind = executions.slice(at + 1).reduce((sum, { stepCount }) => sum + stepCount, 0);
  const count = executions[at]?.stepCount ?? 0;
  const { stepCount } = await runtime.get(sessionId, { owner });
  const first = stepCount - behind - count;
  const steps: AgentStepJSON[] = [];
  let before: number | null = first + Math.min(count, MOST_STEPS);
  while (before !== null && before > first) {
    const page: Awaited<ReturnType<SessionRuntime['steps']>> = await runtime.steps(sessionId, {
      owner,
      before,
      limit: Math.min(100, before - first),
    });
    steps.unshift(...page.items);
    if (page.items.length === 0) break;
    before -= page.items.length;
  }
  return steps;
}

function comparedRun(trace: Trace, title: string | null): ComparedRun {
  const { totals, stop } = trace;
  return {
    sessionId: trace.sessionId,
    executionId: trace.executionId,
    title,
    agent: trace.agent,
    status: trace.status,
    ending: stop && stop.explanation.headline,
    steps: totals.steps.used,
    seconds: totals.seconds.used,
    tokens: totals.tokens.used,
    cost: totals.cost.used,
  };
}

async function isSame(a: Side, b: Side, index: number): Promise<boolean> {
  const [one, other] = [a.steps[index], b.steps[index]];
  if (!one || !other) return false;
  if (one.id === other.id) return true;
  if (workOf(one) !== workOf(other)) return false;
  return (await said(a, one)) === (await said(b, other));
}

/** What a step did, without ids and times. */
const workOf = ({ type, toolCalls, results, finishReason, outcome }: AgentStepJSON): string =>
  canonicalJson([
    type,
    finishReason,
    toolCalls.map(({ name, args }) => [name, args]),
    toolCalls.map(({ id }) => {
      const result = results.find(({ callId }) => callId === id);
      return result ? [result.kind, result.value] : null;
    }),
    [outcome?.shouldContinue ?? null, outcome?.stopReason ?? null],
  ]);

async function said({ read }: Side, { number }: AgentStepJSON): Promise<string> {
  const { answer } = await read(number, true);
  const message = answer.find(({ role }) => role === 'assistant');
  return canonicalJson(message?.content ?? null);
}

async function differenceAt(a: Side, b: Side, index: number): Promise<Difference> {
  const [one, other] = [a.steps[index], b.steps[index]];
  const step = one?.number ?? other?.number ?? index + 1;
  const read = async (side: Side, of: AgentStepJSON | undefined): Promise<StoredModelCall | null> =>
    of ? side.read(of.number, false) : null;
  const [left, right] = [await read(a, one), await read(b, other)];
  const kind = await kindAt(a, b, index);
  const place = kind === 'result' && one && other ? resultPlace(one, other) : -1;
  const answerIn = (call: StoredModelCall | null): ComparedAnswer | null => {
    if (!call) return null;
    const texts = new PayloadTexts();
    const response = responseDocument(call, texts);
    const called = call.step?.toolCalls[place];
    const result = call.step?.results.find(({ callId }) => callId === called?.id);
    return {
      content: response?.content ?? null,
      calls: response?.calls ?? [],
      result: result ? texts.json('result', call.redactor.value(result.value)) : null,
    };
  };
  const none: Cause = { status: 'not_called', places: [], hasMore: false };
  return {
    step,
    kind,
    tool: place < 0 ? null : (one?.toolCalls[place]?.name ?? null),
    left: answerIn(left),
    right: answerIn(right),
    cause: left && right ? causeOf(left, right) : none,
  };
}

async function kindAt(a: Side, b: Side, index: number): Promise<Difference['kind']> {
  const [one, other] = [a.steps[index], b.steps[index]];
  if (!one || !other) return 'end';
  const called = ({ type, toolCalls }: AgentStepJSON): string =>
    canonicalJson([type, toolCalls.map(({ name, args }) => [name, args])]);
  if (called(one) !== called(other)) return 'response';
  if ((await said(a, one)) !== (await said(b, other))) return 'response';
  return resultPlace(one, other) === -1 ? 'decision' : 'result';
}

/** Index of the first call with another result. */
const resultPlace = (one: AgentStepJSON, other: AgentStepJSON): number =>
  one.toolCalls.findIndex((_, i) => resultAt(one, i) !== resultAt(other, i));

function resultAt({ toolCalls, results }: AgentStepJSON, index: number): string {
  const result = results.find(({ callId }) => callId === toolCalls[index]?.id);
  return canonicalJson(result ? [result.kind, result.value] : null);
}

function rowsOf(a: Side, b: Side, from: number): readonly ComparedRow[] {
  const count = Math.max(a.steps.length, b.steps.length) - from;
  return Array.from({ length: count }, (_, i): ComparedRow => {
    const [one, other] = [a.steps[from + i], b.steps[from + i]];
    const isSameWork = one !== undefined && other !== undefined && workOf(one) === workOf(other);
    const left = one ? comparedStep(one) : null;
    return { left, right: other ? comparedStep(other) : null, isSame: i > 0 && isSameWork };
  });
}

function comparedStep(step: AgentStepJSON): ComparedStep {
  const counts = new Map<string, number>();
  for (const { name } of step.toolCalls) counts.set(name, (counts.get(name) ?? 0) + 1);
  const toolMs = Math.max(0, ...step.results.map(({ durationMs }) => durationMs));
  return {
    number: step.number,
    tools: Array.from(counts, ([name, count]) => ({ name, count })),
    type: step.type,
    durationMs: step.durationMs,
    toolMs: Math.min(toolMs, step.durationMs),
    cost: step.cost,
    hasFailed: step.errors.length > 0,
  };
}
