import { canonicalJson, isRecord, type JsonObject, type JsonValue } from '../../json.ts';
import type { Talk } from './conversation.ts';

export interface Call {
  readonly name: string;
  readonly args: JsonObject;
}

/** One answer of the demo model: text, and tool calls if it needs data first. */
export interface Reply {
  readonly text: string;
  readonly calls: readonly Call[];
}

export const say = (text: string): Reply => ({ text, calls: [] });

export const callTools = (text: string, ...calls: readonly Call[]): Reply => ({ text, calls });

/** Maximum attempts of a call before the model continues without it. */
const MAX_TRIES = 3;

/** State of a call in this turn. */
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
  const mayPass = last.kind === 'unfinished' || isTemporary(last.said);
  if (mayPass && tries.length < MAX_TRIES) return { is: 'todo', tries: tries.length };
  return { is: 'failed', said: last.said };
}

/** Whether the error text says that a retry may help. */
const isTemporary = (said: string): boolean => /\(503\)|took longer than/.test(said);

/** Returns a list of a result; empty if the result has another shape. */
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
