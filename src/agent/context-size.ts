import { contextWindowOf } from '../inference/context-window.ts';
import { estimateTokens, messageTokens } from '../inference/estimate-tokens.ts';
import { Messages } from '../messages/messages.ts';
import type { AgentState } from './agent-state.ts';
import type { AgentStep } from './agent-step.ts';
import type { CompactionSettings } from './compaction-options.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';

/** Most steps that are searched for the usage of a model call. */
const MAX_STEPS = 20;
/** Bounds of the ratio of real to estimated tokens. */
const MIN_RATIO = 0.5;
const MAX_RATIO = 4;

/** Size of the next request. */
export interface ContextSize {
  readonly tokens: number;
  /** Estimated tokens of prompt, tools and format. */
  readonly fixed: number;
  /** Real tokens of an estimated one. */
  readonly ratio: number;
}

/** Tokens at which a step compacts; null if the context window is unknown. */
export function thresholdOf(
  run: Run,
  draft: StepDraft,
  settings: CompactionSettings,
): number | null {
  if (settings.atTokens !== null) return settings.atTokens;
  const windows = [...run.agent.models, draft.model].flatMap(
    ({ driver }) => driver.contextWindow ?? contextWindowOf(driver.model) ?? [],
  );
  const window = settings.contextWindow ?? (windows.length > 0 ? Math.min(...windows) : null);
  return window === null ? null : Math.max(1, Math.floor(window * settings.atShare));
}

/** Measures the next request: what the last answer reported, and an estimate of what was added; else an estimate. */
export function contextSize(
  run: Run,
  draft: StepDraft,
  view: Messages,
  isExact: boolean,
): ContextSize {
  const reported = reportedSize(run.state);
  if (reported !== null && !isExact) return { tokens: reported, fixed: 0, ratio: 1 };
  const { response } = run.agent;
  const around = {
    system: draft.system,
    tools: draft.offered.toolSchemas,
    toolChoice: 'auto',
    responseFormat: response?.format ?? null,
  } as const;
  const estimate = estimateTokens({ ...around, messages: view });
  if (!isExact) return { tokens: estimate, fixed: 0, ratio: 1 };
  const fixed = estimateTokens({ ...around, messages: Messages.empty() });
  if (reported === null) return { tokens: estimate, fixed, ratio: 1 };
  const ratio = Math.min(MAX_RATIO, Math.max(MIN_RATIO, reported / Math.max(1, estimate)));
  return { tokens: reported, fixed, ratio };
}

/** Size by the usage of the last answer; null if none was reported since the newest compaction. */
function reportedSize(state: AgentState): number | null {
  const { steps, messages } = state;
  for (let i = steps.length - 1; i >= 0 && i >= steps.length - MAX_STEPS; i--) {
    const step = steps.at(i);
    if (step === undefined || step.type === 'error' || step.type === 'cut') continue;
    const { input, output, reasoning } = step.modelUsage ?? step.usage;
    if (input === 0) continue;
    if (!isCurrent(state, step)) return null;
    let tokens = input + Math.max(0, output - reasoning);
    for (let at = messages.length - 1; at >= 0; at--) {
      const message = messages.at(at);
      if (message?.id === step.messageIds[0]) return tokens;
      if (message) tokens += messageTokens(message);
    }
    return null;
  }
  return null;
}

/** Whether a step was sent what the newest compaction left. */
function isCurrent({ compactions }: AgentState, step: AgentStep): boolean {
  const newest = compactions.at(-1);
  if (newest === undefined) return true;
  return (
    newest.at < step.startedAt || step.compactions?.some(({ id }) => id === newest.id) === true
  );
}
