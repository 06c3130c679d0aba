import { isoTime } from '../clock.ts';
import { parseJson, withoutFence } from '../json.ts';
import { syntheticMessage } from './judge-step.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';

/**
 * Checks a final answer against the response format. A mismatch is an error of the step, and the model is told;
 * on a landing step it is none, for there is no next try.
 */
export async function checkFormat(run: Run, draft: StepDraft): Promise<void> {
  const schema = run.agent.response?.schema;
  const text = draft.newMessages.at(-1)?.text ?? '';
  if (!schema) return;
  const problem = await problemWith(text);
  if (problem === null || draft.softLanding !== null) return;
  // an answer that was cut off ends the run by its finish reason, which says more
  if (run.agent.finishReasons.includes(draft.finishReason ?? '')) return;
  const message = `The answer does not match the response format: ${problem}.`;
  (draft.extraErrors ??= []).push(
    run.record({ type: 'validation', code: 'response_format_mismatch', message }),
  );
  draft.addMessage(
    syntheticMessage(`${message} Answer again with JSON that matches it.`, isoTime(run.now())),
  );

  async function problemWith(answer: string): Promise<string | null> {
    const parsed = parseJson(withoutFence(answer));
    if (!parsed.ok) return `it is not JSON (${parsed.error})`;
    const checked = await schema?.check(parsed.value);
    if (checked?.ok !== true) return checked?.message ?? 'it could not be checked';
    draft.output = { value: checked.value };
    return null;
  }
}
