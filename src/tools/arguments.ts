import { show } from '../errors/agent-error.ts';
import { messageOf } from '../errors/error-record.ts';
import {
  canonicalJson,
  isHarmless,
  isRecord,
  jsonText,
  MOST_LEVELS,
  parseJson,
  type JsonObject,
} from '../json.ts';
import { sentence, withoutFullStop } from '../sentence.ts';
import { sha256 } from '../sha256.ts';

/** Maximum bytes of the arguments of one call, as JSON in UTF-8. */
export const MAX_ARGUMENT_BYTES = 1_000_000;

/**
 * Reads the arguments of a call from outside (a model, an approver, a hook), given as a value or as JSON text.
 * Returns a private copy within bounds and without keys named `__proto__`, else a sentence that says what is wrong.
 */
export function argumentsIn(
  given: Readonly<Record<string, unknown>> | string,
): JsonObject | string {
  let text: string;
  try {
    text = typeof given === 'string' ? given : (jsonText(given) ?? '{}');
  } catch (error) {
    return `The arguments cannot be stored as JSON (${withoutFullStop(messageOf(error))}).`;
  }
  const bytes = bytesOf(text);
  if (bytes > MAX_ARGUMENT_BYTES)
    return `The arguments have ${bytes} bytes, and at most ${MAX_ARGUMENT_BYTES} are accepted. Send less in one call.`;
  const parsed = parseJson(text);
  if (!parsed.ok) return `The arguments are not valid JSON (${parsed.error}).`;
  const { value } = parsed;
  if (!isRecord(value)) return `The arguments are ${show(value)}, expected a JSON object.`;
  return isHarmless(value)
    ? value
    : `The arguments are nested deeper than ${MOST_LEVELS} levels. Send arguments with fewer levels.`;
}

/** Counts bytes only if needed: a character has at most three. */
const bytesOf = (text: string): number =>
  text.length * 3 <= MAX_ARGUMENT_BYTES ? text.length : new TextEncoder().encode(text).length;

/** Returns the hash of recorded arguments, before a schema transforms them: in hex, for any order of keys. */
export const argsHash = (args: JsonObject): string => sha256(canonicalJson(args));

/** Returns the text for the model about refused arguments. */
export const badArguments = (name: string, message: string): string =>
  `The arguments of "${name}" do not fit: ${sentence(message)} Call it again with arguments that match its schema.`;
