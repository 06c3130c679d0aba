import type { Run } from './run.ts';

/**
 * Tells the model what it has used of its budget, in the same numbers that the limits judge by. Goes with the
 * system prompt and never into the conversation.
 */
export function withBudgetNote(run: Run, prompt: string | null): string {
  const spent = run.agent.criteria.budget(run.state, run.now(), run.deps);
  if (spent.length === 0) return prompt ?? '';
  const note = `Budget used so far: ${spent.join('; ')}. Plan your work so that you finish within it.`;
  return prompt === null ? note : `${prompt}\n\n${note}`;
}
