import type { AgentStepJSON } from '../../agent/agent-state.ts';
import { canonicalJson } from '../../json.ts';
import { textOf } from '../../messages/content-part.ts';
import type { ToolCall } from '../../messages/tool-call.ts';
import type { StoredModelCall } from '../../sessions/requests/read-model-call.ts';
import type { OwnerOptions } from '../../sessions/session-options.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import { resultText } from '../../tools/tool-result.ts';
import { retriedIn } from '../tool-retries.ts';
import { argumentEdits } from './argument-edits.ts';
import { PayloadTexts, type PayloadText } from './payload-text.ts';
import { placeOf, type StepPlace } from './step-place.ts';
import type { ToolAttempt, ToolCallDocument, ToolCallsDocument } from './tool-call-document.ts';

/** Most steps before and behind that are searched for attempts of a call. */
const MOST_ATTEMPTS = 5;

/** Reads the tool calls of one step: arguments, results, errors, attempts and what an approver changed. */
export async function readToolCalls(
  runtime: SessionRuntime,
  sessionId: string,
  query: OwnerOptions & StepPlace,
): Promise<ToolCallsDocument> {
  const place = { owner: query.owner, ...placeOf(query), bare: true } as const;
  const call = await runtime.modelCall(sessionId, place);
  const { step } = call;
  if (step === null)
    return { sessionId, executionId: null, step: place.step, status: 'pruned', calls: [] };
  const around = await stepsAround(runtime, sessionId, place, step);
  return {
    sessionId,
    executionId: step.executionId,
    step: step.number,
    status: 'stored',
    calls: toolCallDocuments(call, around, new PayloadTexts()),
  };
}

/** Describes the calls of a step. `around` are the steps beside it, to find attempts. */
export function toolCallDocuments(
  { step, answer, redactor }: StoredModelCall,
  around: readonly AgentStepJSON[],
  texts: PayloadTexts,
): readonly ToolCallDocument[] {
  const proposed = answer.find(({ role }) => role === 'assistant')?.toolCalls ?? [];
  return (step?.toolCalls ?? []).map((call): ToolCallDocument => {
    const name = `call.${call.id}`;
    const result = step?.results.find(({ callId }) => callId === call.id);
    const message = answer.find(({ toolCallId }) => toolCallId === call.id);
    const value = result && resultText(result.value);
    const seen = message && textOf(message.content);
    const error = result?.error ?? null;
    return {
      callId: call.id,
      tool: call.name,
      kind: result?.kind ?? 'open',
      durationMs: result?.durationMs ?? null,
      args: texts.json(`${name}.args`, argsOf(call, redactor)),
      ...editsOf(
        proposed.find(({ id }) => id === call.id),
        call,
        `${name}.edit`,
        redactor,
        texts,
      ),
      result:
        result && error === null
          ? texts.json(`${name}.result`, redactor.value(result.value))
          : null,
      error:
        error && redactor.value({ type: error.type, code: error.code, message: error.message }),
      seen:
        seen !== undefined && seen !== value
          ? texts.text(`${name}.seen`, redactor.text(seen))
          : null,
      approval: result?.approval ? redactor.value(result.approval) : null,
      attempts: attemptsOf(call.id, around),
      files: redactor.value(result?.files ?? []),
    };
  });
}

type Redactor = StoredModelCall['redactor'];

const argsOf = ({ args, argsRaw }: ToolCall, redactor: Redactor): unknown =>
  argsRaw === undefined ? redactor.value(args) : redactor.text(argsRaw);

function editsOf(
  proposed: ToolCall | undefined,
  call: ToolCall,
  name: string,
  redactor: Redactor,
  texts: PayloadTexts,
): Pick<ToolCallDocument, 'edits'> {
  if (!proposed) return {};
  // under their keys, by which the redactor hides values
  const edits = argumentEdits(redactor.value(proposed.args), redactor.value(call.args));
  if (edits.length === 0) return {};
  const shown = (part: string, value: unknown): PayloadText | null =>
    value === undefined ? null : texts.json(part, value);
  return {
    edits: edits.map(({ field, before, after }, i) => ({
      field,
      proposed: shown(`${name}${i}.proposed`, before),
      approved: shown(`${name}${i}.approved`, after),
    })),
  };
}

/** Returns the chain of attempts that a call belongs to. */
function attemptsOf(callId: string, steps: readonly AgentStepJSON[]): readonly ToolAttempt[] {
  const retried = retriedIn(steps);
  const chain = [callId];
  for (let first = retried.get(callId); first; first = retried.get(first.failed))
    chain.unshift(first.failed);
  for (const [again, { failed }] of retried) if (failed === chain.at(-1)) chain.push(again);
  const found = chain.flatMap((id) => {
    const step = steps.find(({ toolCalls }) => toolCalls.some((call) => call.id === id));
    const call = step?.toolCalls.find((one) => one.id === id);
    return step && call ? [{ step, call }] : [];
  });
  const firstArgs = canonicalJson(found[0]?.call.args ?? null);
  return found.map(({ step, call }): ToolAttempt => {
    const result = step.results.find((one) => one.callId === call.id);
    return {
      step: step.number,
      callId: call.id,
      kind: result?.kind ?? 'open',
      durationMs: result?.durationMs ?? null,
      hasSameArgs: canonicalJson(call.args) === firstArgs,
    };
  });
}

/** Reads the steps beside one, as far as attempts of its calls may be in them. */
async function stepsAround(
  runtime: SessionRuntime,
  sessionId: string,
  place: OwnerOptions & StepPlace & { readonly bare: true },
  step: AgentStepJSON,
): Promise<readonly AgentStepJSON[]> {
  const at = async (number: number): Promise<AgentStepJSON | null> =>
    number < 1 ? null : (await runtime.modelCall(sessionId, { ...place, step: number })).step;
  const steps = [step];
  const tools = new Set(step.toolCalls.map(({ name }) => name));
  for (let i = 1; i <= MOST_ATTEMPTS; i++) {
    const before = await at(step.number - i);
    if (before === null || !hasFailed(before, tools)) break;
    steps.unshift(before);
  }
  for (let i = 1; i <= MOST_ATTEMPTS; i++) {
    const last = steps.at(-1);
    if (!last || !hasFailed(last, tools)) break;
    const behind = await at(step.number + i);
    if (behind === null) break;
    steps.push(behind);
  }
  return steps;
}

/** Whether a call of one of these tools failed, or no tool was called because the model failed. */
const hasFailed = (
  { toolCalls, results, type }: AgentStepJSON,
  tools: ReadonlySet<string>,
): boolean =>
  type === 'error' ||
  toolCalls.some(
    ({ id, name }) =>
      tools.has(name) &&
      results.some(({ callId, kind }) => callId === id && (kind === 'error' || kind === 'timeout')),
  );
