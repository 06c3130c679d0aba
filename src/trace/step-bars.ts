import type { AgentStepJSON } from '../agent/agent-state.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import { msOf } from '../clock.ts';
import { childFacts } from './child-facts.ts';
import { workedBetween, type LoggedCall, type RunLog } from './run-log.ts';
import type { Retries } from './tool-retries.ts';
import type { TraceBar } from './trace.ts';

/**
 * Returns the bars of a finished step that starts at `at` on the axis. Without its part of the log they are placed by
 * their durations.
 */
export function stepBars(
  step: AgentStepJSON,
  at: number,
  log: RunLog,
  retries: Retries,
): readonly TraceBar[] {
  const { durationMs, toolCalls } = step;
  const began = msOf(step.startedAt);
  const offset = (time: number): number =>
    Math.min(durationMs, workedBetween(log.gaps, began, time));
  const calls = toolCalls.map(({ id }) => log.calls.get(id));
  const answeredMs = modelTime(step, calls, offset);
  const tools = toolCalls.map(({ id, name }, i): TraceBar => {
    const result = step.results.find(({ callId }) => callId === id);
    const call = calls[i];
    const begun = call?.startedAt ?? call?.completedAt ?? null;
    const took = Math.min(durationMs, toolTime(result, call, log));
    // starting a run costs time that no step counts: keep the duration of a call and move its start
    const start = Math.min(durationMs - took, begun === null ? answeredMs : offset(begun));
    return {
      kind: 'tool',
      name,
      callId: id,
      at: at + start,
      durationMs: took,
      state: result?.kind ?? 'aborted',
      error: errorOf(result),
      retry: retries.get(id) ?? null,
      pausedMs: pausedIn(log, id),
      answer: result?.approval?.decision ?? answerTo(step, id, result, call),
      ...(result?.approval && { approval: result.approval }),
      ...(result?.files && { files: result.files }),
      ...childFacts(log, id, true),
    };
  });
  const modelMs = Math.min(answeredMs, ...tools.map((bar) => bar.at - at));
  const queuedMs = Math.min(modelMs, step.modelCall?.queuedMs ?? 0);
  return [modelBar(step, at + queuedMs, modelMs - queuedMs), ...tools];
}

function modelBar(step: AgentStepJSON, at: number, durationMs: number): TraceBar {
  const failure = step.errors.find(({ toolName }) => toolName === undefined);
  const isTruncated = step.type === 'cut' && step.toolCalls.length === 0;
  return {
    ...noCall,
    at,
    durationMs,
    state: failure
      ? failure.type === 'timeout'
        ? 'timeout'
        : 'error'
      : isTruncated
        ? 'aborted'
        : 'ok',
    error: failure?.message ?? null,
  };
}

const noCall = {
  kind: 'model',
  name: 'model',
  callId: null,
  retry: null,
  pausedMs: 0,
  answer: null,
} as const;

/** Returns the bar of a model call that runs, or whose answer is complete. */
export const openModelBar = (at: number, durationMs: number, isAnswered: boolean): TraceBar => ({
  ...noCall,
  at,
  durationMs,
  state: isAnswered ? 'ok' : 'running',
  error: null,
});

/** Returns the time until the first call started. */
function modelTime(
  { durationMs, toolCalls, results }: AgentStepJSON,
  calls: readonly (LoggedCall | undefined)[],
  offset: (time: number) => number,
): number {
  if (toolCalls.length === 0) return durationMs;
  const first = Math.min(
    ...calls.map(
      (call) => call?.firstStartAt ?? call?.requestedAt ?? call?.completedAt ?? Infinity,
    ),
  );
  if (Number.isFinite(first)) return offset(first);
  const longest = Math.max(0, ...results.map((result) => result.durationMs));
  return Math.max(0, durationMs - longest);
}

/**
 * Returns the duration of a call. A nested agent that paused has several runs, and its result has only the last
 * duration.
 */
function toolTime(
  result: ToolResult | undefined,
  call: LoggedCall | undefined,
  { gaps }: RunLog,
): number {
  const lastMs = result?.durationMs ?? 0;
  const { startedAt = null, completedAt = null } = call ?? {};
  if (startedAt === null || completedAt === null) return lastMs;
  const isBroken = gaps.some(
    ({ from, to }) => from >= startedAt && (to ?? Infinity) <= completedAt,
  );
  return isBroken ? workedBetween(gaps, startedAt, completedAt) : lastMs;
}

function errorOf(result: ToolResult | undefined): string | null {
  if (!result || result.kind === 'ok') return null;
  if (result.error) return result.error.message;
  return typeof result.value === 'string' ? result.value : null;
}

/** Returns how long a call waited for approval or input; up to `now` if it still does. */
export function pausedIn({ gaps }: RunLog, callId: string, now: number | null = null): number {
  let ms = 0;
  for (const { from, to, calls } of gaps)
    if (calls.includes(callId)) ms += Math.max(0, (to ?? now ?? from) - from);
  return ms;
}

function answerTo(
  { notes }: AgentStepJSON,
  callId: string,
  result: ToolResult | undefined,
  call: LoggedCall | undefined,
): TraceBar['answer'] {
  if (result?.kind === 'denied') return 'denied';
  if (notes.includes(`argsEdited:${callId}`)) return 'edited';
  const { requestedAt = null, startedAt = null } = call ?? {};
  return requestedAt !== null && startedAt !== null && startedAt >= requestedAt ? 'approved' : null;
}
