import type { UnfinishedStep } from './agent-step.ts';
import { openInputsIn } from './open-inputs.ts';
import type { StepDraft } from './step-draft.ts';

/** Returns the step with its open calls, paused nested agents and problems. */
export function unfinishedStep(
  draft: StepDraft,
  executionId: string,
  durationMs: number,
): UnfinishedStep {
  const { children, inputs, problems, childAccounts } = draft;
  const paused = Array.from(children ?? [], ([id, child]) => [id, child.toJSON()] as const);
  // Object.assign is faster than a spread, and a journal needs this once per step
  const step = draft.toStep(executionId, durationMs, draft.errors, null);
  const toolSchemas = openSchemas(draft);
  const more: Pick<
    UnfinishedStep,
    'type' | 'children' | 'inputs' | 'problems' | 'childAccounts' | 'toolSchemas'
  > = {
    type: 'tool_calls',
    children: Object.fromEntries(paused),
    ...(inputs && { inputs: openInputsIn(draft, inputs) }),
    ...(problems && { problems: openProblems(draft, problems) }),
    ...(childAccounts && { childAccounts: Object.fromEntries(childAccounts) }),
    ...(toolSchemas.length > 0 && { toolSchemas }),
  };
  return Object.assign(step, more);
}

function openProblems(
  { openCalls, calls }: StepDraft,
  problems: NonNullable<StepDraft['problems']>,
): Record<string, string> {
  const open = openCalls.flatMap((place) => {
    const problem = problems[place];
    return problem === undefined ? [] : [[calls[place]?.id ?? '', problem] as const];
  });
  return Object.fromEntries(open);
}

const openSchemas = ({ storedSchemas, calls, results }: StepDraft): StepDraft['storedSchemas'] =>
  storedSchemas.length === 0
    ? storedSchemas
    : storedSchemas.filter((schema) =>
        calls.some(({ name }, place) => name === schema.name && !results[place]),
      );
