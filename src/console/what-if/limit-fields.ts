import { countText, exactMoneyText, secondsText } from '../../number-text.ts';
import type { ReplaySummary } from '../../server/replay-view.ts';

/** A limit of the page, named as in the API and in the address. */
export type LimitName = 'maxSteps' | 'maxCost' | 'seconds' | 'maxTokens';
export type ChangedLimits = Readonly<Partial<Record<LimitName, number>>>;

export interface LimitField {
  readonly name: LimitName;
  readonly label: string;
  readonly least: number;
  readonly most: number;
  /** Whether the slider moves by factors, because the limit spans several powers of ten. */
  readonly isLog: boolean;
  readonly text: (value: number) => string;
}

export const limitFields: readonly LimitField[] = [
  { name: 'maxSteps', label: 'Step limit', least: 1, most: 50, isLog: false, text: countText },
  {
    name: 'maxCost',
    label: 'Cost limit ($)',
    least: 0.01,
    most: 5,
    isLog: true,
    text: exactMoneyText,
  },
  {
    name: 'seconds',
    label: 'Time limit (s)',
    least: 5,
    most: 1_800,
    isLog: true,
    text: (value) => `${secondsText(value)} s`,
  },
  {
    name: 'maxTokens',
    label: 'Token limit',
    least: 500,
    most: 2_000_000,
    isLog: true,
    text: countText,
  },
];

/** Number of places of a slider. */
export const SLIDER_STEPS = 200;

/** Returns the place of a value on its slider. */
export function placeOf({ least, most, isLog }: LimitField, value: number): number {
  const inside = Math.min(most, Math.max(least, value));
  const share = isLog
    ? Math.log(inside / least) / Math.log(most / least)
    : (inside - least) / (most - least);
  return Math.round(share * SLIDER_STEPS);
}

/** Returns the value at a place of a slider, with two digits; steps are whole. */
export function valueAt({ least, most, isLog, name }: LimitField, place: number): number {
  const share = place / SLIDER_STEPS;
  const value = isLog ? least * (most / least) ** share : least + share * (most - least);
  return name === 'maxSteps' ? Math.max(1, Math.round(value)) : Number(value.toPrecision(2));
}

/** Reads a typed value; null if it is not a limit. */
export function typedLimit({ name }: LimitField, text: string): number | null {
  const value = Number(text.replaceAll(/[$,\s]/g, ''));
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0) return null;
  return name === 'maxSteps' ? Math.max(1, Math.round(value)) : value;
}

/** Returns the limits that the runs were recorded with, ascending. */
export function recordedValues(
  replays: readonly ReplaySummary[],
  name: LimitName,
): readonly number[] {
  const values = replays.flatMap(({ recordedLimits }) => recordedLimits[name] ?? []);
  return [...new Set(values)].toSorted((a, b) => a - b);
}

/** Returns "recorded with 6, 25 or 50", or that there was no limit. */
export function recordedText({ text }: LimitField, values: readonly number[]): string {
  if (values.length === 0) return 'recorded without';
  const shown = values.length > 3 ? [values[0] ?? 0, values.at(-1) ?? 0] : values;
  const texts = shown.map(text);
  const last = texts.pop() ?? '';
  if (texts.length === 0) return `recorded with ${last}`;
  return `recorded with ${texts.join(', ')} ${values.length > 3 ? 'to' : 'or'} ${last}`;
}
