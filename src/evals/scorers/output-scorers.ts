import { jsonText, parseJson, sameJson, toJsonValue, withoutFence } from '../../json.ts';
import { readySchema, type AnySchema } from '../../tools/schema.ts';
import { shortText } from '../call-text.ts';
import type { EvalRun } from '../eval-run.ts';
import { fail, pass, skip, type Scorer } from '../score.ts';

interface Named {
  /** Name in reports. */
  readonly name?: string;
}

const seenText = ({ output, outputText }: EvalRun): string =>
  shortText(
    typeof output === 'object' && output !== null ? (jsonText(output) ?? '') : outputText,
    400,
  );

/** The value to compare: the output, or the last text of a run that did not complete. */
const valueOf = ({ output, outputText }: EvalRun): unknown => output ?? outputText;

/** Passes if the output is this value. Without a value it reads `expected.output` of the case. Texts are trimmed. */
export const outputEquals = (value?: unknown, { name = 'output_equals' }: Named = {}): Scorer => ({
  name,
  score({ run, case: { expected } }) {
    const wanted = value ?? expected?.output;
    if (wanted === undefined) return skip('the case expects no output');
    const seen = valueOf(run);
    const isSame =
      typeof wanted === 'string' && typeof seen === 'string'
        ? wanted.trim() === seen.trim()
        : sameJson(toJsonValue(wanted), toJsonValue(seen));
    if (isSame) return pass('the output is the expected one');
    const text = shortText(typeof wanted === 'string' ? wanted : (jsonText(wanted) ?? ''), 400);
    return fail(`Expected “${text}”. It was “${seenText(run)}”.`);
  },
});

type Fragment = string | RegExp;

/**
 * Passes if the output contains all of these texts, in any case, or matches the expressions. Without them it reads
 * `expected.output` of the case if that is a text or a list of texts.
 */
export const outputContains = (
  fragments?: Fragment | readonly Fragment[],
  { name = 'output_contains' }: Named = {},
): Scorer => ({
  name,
  score({ run, case: { expected } }) {
    const wanted = fragments === undefined ? fragmentsOf(expected?.output) : [fragments].flat();
    if (wanted === null) return skip('the case expects no text');
    const { output, outputText } = run;
    const text =
      typeof output === 'object' && output !== null ? (jsonText(output) ?? '') : outputText;
    const lower = text.toLowerCase();
    const missing = wanted.filter((one) =>
      typeof one === 'string' ? !lower.includes(one.toLowerCase()) : text.search(one) === -1,
    );
    if (missing.length === 0) return pass('the output contains what is expected');
    const listed = missing.map((one) => `“${shortText(String(one), 200)}”`).join(', ');
    return fail(`Expected the output to contain ${listed}. It was “${seenText(run)}”.`);
  },
});

function fragmentsOf(output: unknown): readonly string[] | null {
  const list = [output].flat();
  return list.every((one) => typeof one === 'string') ? list : null;
}

/** Passes if the output fits a schema: a Standard Schema such as zod's, or a JSON Schema. Text output is parsed as JSON. */
export function outputMatchesSchema(
  schema: AnySchema,
  { name = 'output_schema' }: Named = {},
): Scorer {
  const ready = readySchema('outputMatchesSchema', schema, {});
  return {
    name,
    async score({ run }) {
      const value = valueOf(run);
      const parsed = typeof value === 'string' ? parseJson(withoutFence(value)) : null;
      // a text may be the value itself, or JSON
      const checked = await ready.check(value);
      const isFit = checked.ok || (parsed?.ok === true && (await ready.check(parsed.value)).ok);
      if (isFit) return pass('the output fits the schema');
      return fail(
        `The output does not fit the schema: ${shortText(checked.ok ? '' : checked.message, 400)}`,
      );
    },
  };
}
