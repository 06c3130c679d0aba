import { AgentError } from '../errors/agent-error.ts';
import { isHarmless, isRecord, MOST_LEVELS, parseJson, type JsonValue } from '../json.ts';
import { readCases, type EvalCase } from './eval-case.ts';

export type DatasetFormat = 'json' | 'jsonl' | 'yaml';

/** Reads YAML, such as `parse` of the `yaml` package. */
export type ParseYaml = (text: string) => unknown;

/**
 * Reads the cases of a dataset: a list of cases, or `{ cases: [...] }`; in JSON Lines one case per line. `what` names
 * the dataset in errors.
 */
export function parseDataset(
  what: string,
  text: string,
  format: DatasetFormat,
  parseYaml?: ParseYaml,
): readonly EvalCase[] {
  const value = format === 'jsonl' ? linesOf(what, text) : wholeOf(what, text, format, parseYaml);
  if (!isHarmless(value)) throw unreadable(what, `it has more than ${MOST_LEVELS} levels`);
  return readCases(what, isRecord(value) ? value['cases'] : value);
}

const linesOf = (what: string, text: string): readonly JsonValue[] =>
  text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    const parsed = parseJson(line);
    if (!parsed.ok) throw unreadable(`${what}, line ${i + 1},`, parsed.error);
    return [parsed.value];
  });

function wholeOf(
  what: string,
  text: string,
  format: DatasetFormat,
  parseYaml: ParseYaml | undefined,
): unknown {
  if (format === 'json' || !parseYaml) {
    const parsed = parseJson(text);
    if (parsed.ok) return parsed.value;
    throw unreadable(what, parsed.error);
  }
  try {
    // a copy without shared nodes, so that what an alias repeats is bounded by the parser
    return structuredClone(parseYaml(text));
  } catch (error) {
    throw unreadable(what, error instanceof Error ? error.message : String(error), error);
  }
}

const unreadable = (what: string, why: string, cause?: unknown): AgentError =>
  new AgentError('invalid_option', `${what} could not be read: ${why}`, { cause });
