import { broadcastStatuses, type BroadcastStatus } from '../agent/broadcast-status.ts';
import { isRecord, own } from '../json.ts';
import { boundedText, isBounded } from './bounded.ts';
import { isTruncated } from './message-list.ts';

/** Whether a value is valid. */
export type Check = (value: unknown) => boolean;

/** A required field, or one with a value that replaces an invalid one. */
export interface Field {
  readonly fits: Check;
  readonly otherwise?: unknown;
  /** Whether it may be missing. */
  readonly isOptional?: true;
}

/** Fields as entries, because they are walked for every record. */
export type Fields = readonly (readonly [name: string, field: Field])[];

export const fieldsOf = (fields: Readonly<Record<string, Field | undefined>>): Fields =>
  Object.entries(fields).flatMap(([name, field]) => (field ? [[name, field] as const] : []));

/** Maximum characters of an id, far beyond every generated one. */
const MAX_NAME = 200_000;

export const isText: Check = (value) => typeof value === 'string';
export const isName: Check = (value) => typeof value === 'string' && value.length <= MAX_NAME;
const isShort: Check = (value) => typeof value === 'string' && value.length <= 10_000;
export const isTextList: Check = (value) =>
  Array.isArray(value) && value.length <= 100 && value.every(isShort);
export const isBoolean: Check = (value) => typeof value === 'boolean';
export const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
export const isAmount: Check = (value) => typeof value === 'number' && value >= 0 && value <= 1e15;
export const isTextOrTruncated: Check = (value) =>
  isText(value) || (isTruncated(value) && isName(value.ref));
export const isRemedy: Check = (value) =>
  isRecord(value) &&
  isShort(value['text']) &&
  (value['option'] === undefined || isName(value['option']));
/** Whether it lists images and files of a result; more than a tool can return are not shown. */
export const isToolFiles: Check = (value) =>
  Array.isArray(value) && value.length <= 64 && value.every(isToolFile);
const isToolFile: Check = (value) =>
  isRecord(value) &&
  (value['type'] === 'image' || value['type'] === 'file') &&
  ['media_type', 'filename', 'url'].every((name) => orAbsent(isShort)(own(value, name))) &&
  orAbsent(isAmount)(own(value, 'bytes')) &&
  orAbsent((data) => isText(data) && isBounded(data))(own(value, 'data'));
const orAbsent =
  (fits: Check): Check =>
  (value) =>
    value === undefined || fits(value);
/** Whether it is a name: unknown kinds are shown as text, so any name is valid. */
const isAction: Check = (value) =>
  isRecord(value) &&
  isName(value['kind']) &&
  isShort(value['text']) &&
  [value['grant'], value['minimum']].every((grant) => grant === undefined || isAmounts(grant));
export const isAmounts: Check = (value) =>
  isRecord(value) && Object.keys(value).length <= 10 && Object.values(value).every(isAmount);
/** Whether it is a grant with who gave it. */
export const isGrant: Check = (value) =>
  isRecord(value) &&
  isAmounts(value['amounts']) &&
  orNull(isName)(value['by']) &&
  isName(value['authority']) &&
  isName(value['at']);
export const isExplanation: Check = (value) =>
  isRecord(value) &&
  isShort(value['headline']) &&
  isShort(value['detail']) &&
  Array.isArray(value['actions']) &&
  value['actions'].length <= 20 &&
  value['actions'].every(isAction);
export const isUsage: Check = (value) =>
  isRecord(value) && ['input', 'output', 'total'].every((name) => isAmount(own(value, name)));
export const orNull =
  (fits: Check): Check =>
  (value) =>
    value === null || fits(value);

export const must = (fits: Check): Field => ({ fits });
export const may = (fits: Check, otherwise: unknown): Field => ({ fits, otherwise });
export const maybe = (fits: Check, otherwise: unknown): Field => ({
  fits,
  otherwise,
  isOptional: true,
});

export const isStatus = (value: unknown): value is BroadcastStatus =>
  broadcastStatuses.some((status) => status === value);

/**
 * Reads the fields of a record; null if a required one is invalid. Texts are truncated, other fields stay, and a
 * record that needs no change is the same object.
 */
export function readFields(
  wanted: Fields,
  record: Record<string, unknown>,
): { readonly value: Record<string, unknown>; readonly isWhole: boolean } | null {
  let fit = record;
  let isWhole = true;
  for (const [name, field] of wanted) {
    const value = own(record, name);
    if (value === undefined && field.isOptional) continue;
    if (value !== undefined && field.fits(value)) {
      const short = bounded(value);
      if (short !== value) fit = { ...fit, [name]: short };
      continue;
    }
    if (!('otherwise' in field)) return null;
    fit = { ...fit, [name]: field.otherwise };
    isWhole = false;
  }
  return { value: fit, isWhole };
}

function bounded(value: unknown): unknown {
  if (typeof value === 'string') return boundedText(value);
  if (!isTruncated(value)) return value;
  const { summary, ref } = value;
  const short = boundedText(summary);
  return short === summary ? value : { summary: short, ref };
}
