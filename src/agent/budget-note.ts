import type { Run } from './run.ts';

/**
 * Adds the budget used so far to the system prompt, with the numbers that the limits use. Never adds it to the
 * conversation.
 */
export function withBudgetNote(run: Run, prompt: string | null): string {
  const spent = run.agent.criteria.budget(run.state, run.now(), run.deps);
  if (spent.length === 0) return prompt ?? '';
  const note = `Budget used so far: ${spent.join('; ')}. Plan your work so that you finish within it.`;
  return prompt === null ? note : `${prompt}\n\n${note}`;
}
