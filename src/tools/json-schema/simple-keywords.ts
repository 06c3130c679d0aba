import { isRecord, sameJson } from '../../json.ts';
import { SchemaProblem, type Check } from './check.ts';
import type { Keywords } from './compile-schema.ts';
import type { Format } from './formats.ts';
import { patternOf, type Pattern } from './pattern.ts';
import type { TextRules } from './text-rules.ts';

/** Creates the checks of keywords about the value itself: its kind, numbers, strings. */
export const simpleKeywords: Keywords = (schema, { rules }) => {
  const { type, enum: among, pattern, format, multipleOf } = schema;
  const checks: Check[] = [typeCheck(type)];
  if (Object.hasOwn(schema, 'const')) {
    const same = schema['const'];
    checks.push((value, at, run) =>
      sameJson(value, same)
        ? true
        : run.fail(at, `Instance does not match ${JSON.stringify(same)}.`),
    );
  }
  if (Array.isArray(among)) {
    const plain = new Set<unknown>(among);
    const lists = among.filter((one) => typeof one === 'object' && one !== null);
    checks.push((value, at, run) =>
      plain.has(value) || lists.some((one) => sameJson(value, one))
        ? true
        : run.fail(at, `Instance does not match any of ${JSON.stringify(among)}.`),
    );
  }
  checks.push(...numberChecks(schema), ...lengthChecks(schema));
  if (typeof multipleOf === 'number')
    checks.push((value, at, run) =>
      typeof value !== 'number' || isMultipleOf(value, multipleOf)
        ? true
        : run.fail(at, `${value} is not a multiple of ${multipleOf}.`),
    );
  if (typeof pattern === 'string') checks.push(patternCheck(pattern, rules));
  const known = typeof format === 'string' ? rules.formatOf(format) : undefined;
  if (known) checks.push(formatCheck(String(format), known));
  return checks;
};

const KINDS = /* @__PURE__ */ new Set(['boolean', 'number', 'string', 'null', 'array', 'object']);

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

/** Checks the kind, also without `type`: a value that is not JSON matches no schema. */
function typeCheck(type: unknown): Check {
  const wanted = type === undefined ? null : new Set<unknown>([type].flat());
  const expected = [type].flat().join('", "');
  return (value, at, run) => {
    const kind = kindOf(value);
    if (wanted === null)
      return KINDS.has(kind) || run.fail(at, `Instances of "${kind}" type are not supported.`);
    return (
      wanted.has(kind) ||
      (wanted.has('integer') && Number.isInteger(value)) ||
      run.fail(at, `Instance type "${kind}" is invalid. Expected "${expected}".`)
    );
  };
}

function numberChecks(schema: Readonly<Record<string, unknown>>): readonly Check[] {
  const rules: readonly [string, (value: number, bound: number) => boolean, string][] = [
    ['minimum', (value, bound) => value >= bound, 'less than'],
    ['maximum', (value, bound) => value <= bound, 'greater than'],
    ['exclusiveMinimum', (value, bound) => value > bound, 'less than or equal to'],
    ['exclusiveMaximum', (value, bound) => value < bound, 'greater than or equal to'],
  ];
  return rules.flatMap(([key, fits, words]): readonly Check[] => {
    // draft 4 uses true next to the bound
    const bound = schema[key] === true ? schema[key.replace('exclusiveM', 'm')] : schema[key];
    if (typeof bound !== 'number') return [];
    return [
      (value, at, run) =>
        typeof value !== 'number' ||
        fits(value, bound) ||
        run.fail(at, `${value} is ${words} ${bound}.`),
    ];
  });
}

/** Checks lengths: of strings in characters, of lists in items, of objects in keys. */
function lengthChecks(schema: Readonly<Record<string, unknown>>): readonly Check[] {
  const rules: readonly [string, (value: unknown) => number | null, string, string][] = [
    [
      'Length',
      (value) => (typeof value === 'string' ? charsIn(value) : null),
      'String is too',
      'short long',
    ],
    ['Items', (value) => (Array.isArray(value) ? value.length : null), 'Array has too', 'few many'],
    [
      'Properties',
      (value) => (isRecord(value) ? Object.keys(value).length : null),
      'Object has too',
      'few many',
    ],
  ];
  return rules.flatMap(([noun, countOf, words, ends]): readonly Check[] => {
    const least = numberOr(schema[`min${noun}`], 0);
    const most = numberOr(schema[`max${noun}`], Infinity);
    if (least === 0 && most === Infinity) return [];
    const [few, many] = ends.split(' ');
    const what = noun === 'Length' ? '' : ` ${noun.toLowerCase()}`;
    return [
      (value, at, run) => {
        const count = countOf(value);
        if (count === null || (count >= least && count <= most)) return true;
        return count < least
          ? run.fail(at, `${words} ${few}${what} (${count} < ${least}).`)
          : run.fail(at, `${words} ${many}${what} (${count} > ${most}).`);
      },
    ];
  });
}

const numberOr = (value: unknown, other: number): number =>
  typeof value === 'number' ? value : other;

/** Counts characters; a surrogate pair is one. */
function charsIn(text: string): number {
  let count = 0;
  for (const _char of text) count += 1;
  return count;
}

/** Prepares a pattern of a schema; throws if it cannot be used. */
export function readyPattern(source: string, rules: TextRules): Pattern {
  const pattern = patternOf(source, rules.patternOf);
  if (typeof pattern === 'string')
    throw new SchemaProblem(
      `pattern ${JSON.stringify(source.slice(0, 100))} cannot be used: ${pattern}`,
    );
  return pattern;
}

function patternCheck(source: string, rules: TextRules): Check {
  const pattern = readyPattern(source, rules);
  return (value, at, run) => {
    if (typeof value !== 'string') return true;
    const fits = pattern.test(value);
    if (fits === undefined)
      return run.fail(at, `String of ${value.length} characters is too long for its pattern.`);
    return fits || run.fail(at, 'String does not match pattern.');
  };
}

function formatCheck(name: string, format: Format): Check {
  const { most = Infinity } = format;
  return (value, at, run) => {
    if (typeof value !== 'string') return true;
    if (value.length > most)
      return run.fail(
        at,
        `String does not match format "${name}": it has ${value.length} characters, at most ${most} are allowed.`,
      );
    return format.test(value) || run.fail(at, `String does not match format "${name}".`);
  };
}

/** Compares in decimal: 0.3 is a multiple of 0.1. */
function isMultipleOf(value: number, divisor: number): boolean {
  if (!Number.isFinite(value) || !(divisor > 0)) return false;
  const [top, topExponent] = decimal(value);
  const [bottom, bottomExponent] = decimal(divisor);
  const shift = 10n ** BigInt(Math.abs(topExponent - bottomExponent));
  return topExponent >= bottomExponent
    ? (top * shift) % bottom === 0n
    : top % (bottom * shift) === 0n;
}

function decimal(value: number): readonly [bigint, number] {
  const [digits = '', exponent = '0'] = Math.abs(value).toString().split('e');
  const [whole = '', part = ''] = digits.split('.');
  return [BigInt(whole + part), Number(exponent) - part.length];
}
