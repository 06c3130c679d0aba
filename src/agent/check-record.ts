import { AgentError, show } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';

type Kind = 'string' | 'number' | 'boolean' | 'list' | 'object';

interface Field {
  readonly key: string;
  readonly kind: Kind;
  readonly mayBeMissing: boolean;
  readonly mayBeNull: boolean;
}
export type Fields = readonly Field[];

/** An invalid value in a document, with its path, such as `.steps[2].id`. */
export interface Problem {
  readonly at: string;
  readonly seen: unknown;
  readonly expected: string;
}

/** Declares the fields of a record. A field with `?` may be missing; with `??` it may also be null. */
/* @__NO_SIDE_EFFECTS__ */
export const fields = (kinds: Readonly<Record<string, Kind | `${Kind}?` | `${Kind}??`>>): Fields =>
  Object.entries(kinds).map(([key, kind]) => ({
    key,
    kind: kind.replaceAll('?', '') as Kind, // without the suffix
    mayBeMissing: kind.endsWith('?'),
    mayBeNull: kind.endsWith('??'),
  }));

// Callers prepend the path to a problem, so that a valid document builds no path text.

export function recordProblem(value: unknown, expected: Fields): Problem | null {
  if (!isRecord(value)) return { at: '', seen: value, expected: objectWith(expected) };
  for (const { key, kind, mayBeMissing, mayBeNull } of expected) {
    const field = value[key];
    if (isKind(field, kind)) continue;
    if (field == null && (mayBeNull || (mayBeMissing && !(key in value)))) continue;
    return { at: `.${key}`, seen: field, expected: words[kind] };
  }
  return null;
}

export function listProblem(
  list: unknown,
  problemOf: (item: unknown) => Problem | null,
): Problem | null {
  if (!Array.isArray(list)) return { at: '', seen: list, expected: 'a list' };
  for (let i = 0; i < list.length; i++) {
    const problem = problemOf(list[i]);
    if (problem) return within(`[${i}]`, problem);
  }
  return null;
}

export const within = (place: string, problem: Problem | null): Problem | null =>
  problem && { ...problem, at: place + problem.at };

export const brokenState = (seen: string, expected: string): AgentError =>
  new AgentError('invalid_state', `This is not a state document: ${seen}, expected ${expected}.`);

export function refuse(problem: Problem | null): void {
  if (problem)
    throw brokenState(`${problem.at.slice(1)} is ${show(problem.seen)}`, problem.expected);
}

function isKind(value: unknown, kind: Kind): boolean {
  if (kind === 'list') return Array.isArray(value);
  if (kind === 'object') return isRecord(value);
  return kind === 'number' ? Number.isFinite(value) : typeof value === kind;
}

const objectWith = (expected: Fields): string =>
  expected.length === 0 ? 'an object' : `an object with ${expected.map((f) => f.key).join(', ')}`;

const words: Readonly<Record<Kind, string>> = {
  string: 'a string',
  number: 'a finite number',
  boolean: 'true or false',
  list: 'a list',
  object: 'an object',
};

export const usageFields: Fields = fields({
  input: 'number?',
  output: 'number?',
  total: 'number?',
  cachedInput: 'number?',
  reasoning: 'number?',
  cacheWrite: 'number?',
  cacheWrite1h: 'number?',
});
