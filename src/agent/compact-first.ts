import { addCost, addUsage, minusUsage, zeroUsage, type Usage } from '../inference/usage.ts';
import type { AgentStep, StepCompaction } from './agent-step.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';
import { onDemand } from '../on-demand.ts';

/** What compactions before a model call have done and used. */
export interface DraftCompaction {
  readonly made: readonly StepCompaction[];
  readonly usage: Usage;
  readonly cost: number | null;
  /** Part of it that the totals have already, because it was written with a compaction. */
  readonly counted: { readonly usage: Usage; readonly cost: number | null };
  /** Whether the usage of the step includes it. */
  readonly isInStep: boolean;
}

/** Whether the model is sent something else than the whole conversation. */
export const usesCompaction = ({ agent, state }: Run): boolean =>
  agent.compaction !== null || state.compactions.length > 0;

/** Compacts the conversation if it is time. Returns false if the step ends here. Others do not load the code. */
export async function compactFirst(run: Run, draft: StepDraft): Promise<boolean> {
  if (run.compactor === null) {
    const { Compactor } = await onDemand(import('./compactor.ts'));
    run.compactor = new Compactor(run);
  }
  const mayContinue = await run.compactor.before(draft);
  if (!mayContinue) bookCompaction(draft);
  return mayContinue;
}

/** Counts once what summaries have used in the step, as soon as the usage of its own model call is known. */
export function bookCompaction(draft: StepDraft): void {
  const { compaction } = draft;
  if (compaction === null || compaction.isInStep) return;
  draft.compaction = { ...compaction, isInStep: true };
  const { usage, cost } = compaction;
  if (usage === zeroUsage) return;
  draft.modelUsage ??= draft.usage;
  draft.usage = addUsage(draft.usage, usage);
  draft.cost = addCost(draft.cost, cost);
}

export const noCompaction: DraftCompaction = {
  made: [],
  usage: zeroUsage,
  cost: 0,
  counted: { usage: zeroUsage, cost: 0 },
  isInStep: false,
};

/** What summaries have used that the totals do not have yet. */
export const uncountedUse = ({
  usage,
  cost,
  counted,
}: DraftCompaction): DraftCompaction['counted'] => ({
  usage: minusUsage(usage, counted.usage),
  cost: cost === null ? null : cost - (counted.cost ?? 0),
});

/** Decides once, with the failed step, whether the run tries a shorter request: once until the next answer. */
export function shortensAfter(run: Run, draft: StepDraft): boolean {
  if (!isTooLong(draft.failure) || run.compactor === null) return false;
  const { steps, execution } = run.state;
  for (let i = steps.length - 1; i >= 0; i--) {
    const step = steps.at(i);
    if (step?.executionId !== execution.id || step.number <= execution.handledStep) break;
    if (step.compacts) return false;
    if (step.type !== 'error' && step.type !== 'cut') break;
  }
  return run.compactor.canShorten(draft);
}

const isTooLong = (failure: ErrorRecord | null): boolean => failure?.code === 'context_length';

/** The fields of a step record. */
export const compactionFields = ({
  made,
  usage,
}: DraftCompaction): Pick<AgentStep, 'compactions' | 'compactionUsage'> => ({
  ...(made.length > 0 && { compactions: made }),
  ...(usage !== zeroUsage && { compactionUsage: usage }),
});

/** Reads the fields of an unfinished step, whose usage has them already. */
export const draftCompaction = ({
  compactions,
  compactionUsage,
}: Pick<AgentStep, 'compactions' | 'compactionUsage'>): DraftCompaction | null =>
  compactions || compactionUsage
    ? {
        ...noCompaction,
        made: compactions ?? [],
        usage: compactionUsage ?? zeroUsage,
        isInStep: true,
      }
    : null;
