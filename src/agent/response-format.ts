import { isoTime } from '../clock.ts';
import { messageOf } from '../errors/error-record.ts';
import { isHarmless, MOST_LEVELS, parseJson, withoutFence } from '../json.ts';
import type { ReadySchema } from '../tools/schema.ts';
import { syntheticMessage } from './evaluate-step.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';
import { sentence } from '../sentence.ts';

/**
 * Checks a final answer against the response format. A mismatch is an error of the step, and a message asks the model
 * to correct it. On a landing step it is not an error, because no retry follows.
 */
export async function checkFormat(run: Run, draft: StepDraft): Promise<void> {
  const ready = run.agent.response?.schema;
  const text = draft.newMessages.at(-1)?.text ?? '';
  if (!ready) return;
  const problem = await problemWith(text, ready);
  if (problem === null || draft.softLanding !== null) return;
  // the finish reason of a truncated answer ends the run, and explains more
  if (run.agent.finishReasons.includes(draft.finishReason ?? '')) return;
  const message = `The answer does not match the response format: ${sentence(problem)}`;
  (draft.extraErrors ??= []).push(
    run.record({ type: 'validation', code: 'response_format_mismatch', message }),
  );
  draft.addMessage(
    syntheticMessage(`${message} Answer again with JSON that matches it.`, isoTime(run.now())),
  );

  async function problemWith(answer: string, ready: ReadySchema): Promise<string | null> {
    const parsed = parseJson(withoutFence(answer));
    if (!parsed.ok) return `it is not JSON (${parsed.error})`;
    if (!isHarmless(parsed.value)) return `it is nested deeper than ${MOST_LEVELS} levels`;
    try {
      const checked = await run.cancellation.race(Promise.resolve(ready.check(parsed.value)));
      if (!checked.ok) return checked.message;
      draft.output = { value: checked.value };
      return null;
    } catch (error) {
      // a cancelled run is not checked
      return run.cancellation.cause ? null : `it could not be checked (${messageOf(error)})`;
    }
  }
}
