import { canonicalJson, isRecord, type JsonObject, type JsonValue } from '../../json.ts';
import type { Talk } from './conversation.ts';

export interface Call {
  readonly name: string;
  readonly args: JsonObject;
}

/** One answer of the demo model: words, and tools where it has to look first. */
export interface Reply {
  readonly text: string;
  readonly calls: readonly Call[];
}

export const say = (text: string): Reply => ({ text, calls: [] });

export const callTools = (text: string, ...calls: readonly Call[]): Reply => ({ text, calls });

/** How often a call is made before the model continues without it. */
const MOST_TRIES = 3;

/** Where a call stands in this turn. */
export type Standing =
  | { readonly is: 'todo'; readonly tries: number }
  | { readonly is: 'done'; readonly value: JsonValue; readonly tries: number }
  | { readonly is: 'denied'; readonly said: string }
  | { readonly is: 'failed'; readonly said: string };

export function standingOf({ outcomes }: Talk, { name, args }: Call): Standing {
  const wanted = canonicalJson(args);
  const tries = outcomes.filter((o) => o.tool === name && canonicalJson(o.args) === wanted);
  const done = tries.find(({ kind }) => kind === 'ok');
  if (done) return { is: 'done', value: done.value, tries: tries.length };
  const last = tries.at(-1);
  if (!last) return { is: 'todo', tries: 0 };
  if (last.kind === 'denied') return { is: 'denied', said: last.said };
  const mayPass = last.kind === 'unfinished' || isPassing(last.said);
  if (mayPass && tries.length < MOST_TRIES) return { is: 'todo', tries: tries.length };
  return { is: 'failed', said: last.said };
}

/** The words of an error tell whether it is worth another try. */
const isPassing = (said: string): boolean => /\(503\)|took longer than/.test(said);

/** What a list in a result holds; nothing where the result is not what was expected. */
export function listIn(value: JsonValue, name: string): readonly JsonObject[] {
  const list: unknown = isRecord(value) ? value[name] : null;
  return Array.isArray(list) ? (list as unknown[]).filter(isRow) : [];
}

const isRow = (value: unknown): value is JsonObject => isRecord(value);

export const rowIn = (value: JsonValue): JsonObject => (isRow(value) ? value : {});

export const field = (row: JsonObject, name: string): string => {
  const value = row[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};

export const amount = (row: JsonObject, name: string): number => {
  const value = row[name];
  return typeof value === 'number' ? value : 0;
};
