import { canonicalJson } from '../json.ts';
import { sha256 } from '../sha256.ts';
import type { ToolChoice } from '../inference/inference-driver.ts';
import type { ToolSchema } from '../tools/tool.ts';
import { modelOfStep } from './model-chain.ts';
import { toolsOfStep, type OfferedTools } from './offered-tools.ts';
import type { StepSettings } from './prepare-step.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';

/** What a step sent that differs from the definition of the agent. */
export interface StepSteering {
  /** Id of the model that `prepareStep` chose; absent if it chose none, or a fallback took its place. */
  readonly model?: string;
  /** The offered tools: their number, the first names, and the hash of all their schemas. */
  readonly tools?: {
    readonly count: number;
    readonly names: readonly string[];
    readonly hash: string;
  };
  readonly toolChoice?: ToolChoice;
  /** SHA-256 of the system prompt, without the budget note. */
  readonly systemHash?: string;
}

/** Most tool names that a step records; the number and the hash cover all. */
const MAX_NAMES = 20;

/** Applies settings to a step: what it offers, whom it calls, and with which prompt. */
export function steer(run: Run, draft: StepDraft, settings: StepSettings): void {
  const { agent, offered } = run;
  const { activeTools, toolChoice, model, system } = settings;
  const isOpen = agent.toolSources.length > 0;
  draft.offered = toolsOfStep(offered, activeTools, toolChoice, isOpen, agent.toolFinder);
  if (system !== undefined) draft.system = system === '' ? null : system;
  const isModelChosen = model !== undefined && modelOfStep(run, draft, agent.modelOf(model));
  if (isModelChosen) draft.steeredModel = draft.model.id;
}

/** Describes what a step sends that differs from the definition; null if nothing does. */
export function steeringOf(run: Run, draft: StepDraft): StepSteering | null {
  const { agent } = run;
  const { offered, system, steeredModel } = draft;
  // tools of sources are never in the definition, and those to find never in a request
  const isOwn = agent.toolSources.length === 0 && agent.toolFinder === null;
  const all = isOwn ? agent : run.offered;
  const isSystemOwn = system === agent.systemPrompt;
  if (offered === all && isSystemOwn && steeredModel === null) return null;
  const tools = toolFacts(offered, all);
  const isChoiceOwn = offered.toolChoice === all.toolChoice;
  if (isSystemOwn && isChoiceOwn && steeredModel === null && tools === null) return null;
  return {
    ...(steeredModel !== null && { model: steeredModel }),
    ...(tools && { tools }),
    ...(!isChoiceOwn && { toolChoice: offered.toolChoice }),
    ...(!isSystemOwn && { systemHash: sha256(system ?? '') }),
  };
}

/** Facts of a list of tools, made once per list: many steps share one. */
const factsKept = new WeakMap<readonly ToolSchema[], NonNullable<StepSteering['tools']>>();

function toolFacts(
  { toolSchemas, toolNames }: OfferedTools,
  agent: OfferedTools,
): NonNullable<StepSteering['tools']> | null {
  if (toolSchemas === agent.toolSchemas) return null;
  let facts = factsKept.get(toolSchemas);
  if (facts === undefined) {
    const hash = sha256(toolSchemas.map(hashOf).join('\n'));
    facts = { count: toolNames.length, names: toolNames.slice(0, MAX_NAMES), hash };
    factsKept.set(toolSchemas, Object.freeze(facts));
  }
  return facts;
}

const hashesKept = new WeakMap<ToolSchema, string>();

/** Returns the hash of the schema of one tool, made once per tool. */
function hashOf(schema: ToolSchema): string {
  let hash = hashesKept.get(schema);
  if (hash === undefined) hashesKept.set(schema, (hash = sha256(canonicalJson(schema))));
  return hash;
}
