import { isRecord, MOST_LEVELS } from '../json.ts';

/** A matcher of a test library, such as `expect.stringContaining('a')`. */
interface AsymmetricMatcher {
  asymmetricMatch(value: unknown): boolean;
}

/**
 * Whether a value has what is expected: an object has these keys, among others; a list has these items; a regular
 * expression matches a text; a function returns true; a matcher such as `expect.any(String)` accepts it.
 */
export function matchesValue(
  expected: unknown,
  value: unknown,
  levels: number = MOST_LEVELS,
): boolean {
  if (Object.is(expected, value)) return true;
  if (levels === 0) return false;
  if (expected instanceof RegExp)
    // a flag `g` keeps a position between calls
    return typeof value === 'string' && value.search(expected) !== -1;
  if (typeof expected === 'function') return (expected as (v: unknown) => unknown)(value) === true;
  if (isAsymmetric(expected)) return expected.asymmetricMatch(value);
  if (Array.isArray(expected))
    return (
      Array.isArray(value) &&
      value.length === expected.length &&
      expected.every((item, i) => matchesValue(item, value[i], levels - 1))
    );
  if (!isRecord(expected) || !isRecord(value)) return false;
  return Object.entries(expected).every(([key, inner]) =>
    inner === undefined
      ? !Object.hasOwn(value, key)
      : Object.hasOwn(value, key) && matchesValue(inner, value[key], levels - 1),
  );
}

const isAsymmetric = (value: unknown): value is AsymmetricMatcher =>
  isRecord(value) && typeof value['asymmetricMatch'] === 'function';

/** Writes an expected value in one line, with matchers by name. */
export function expectedText(expected: unknown): string {
  const text = named(expected);
  if (typeof text === 'string') return text;
  return JSON.stringify(expected, (_key, inner: unknown) => named(inner)) ?? 'undefined';
}

const named = (value: unknown): unknown =>
  value instanceof RegExp
    ? String(value)
    : typeof value === 'function'
      ? '(function)'
      : isAsymmetric(value)
        ? matcherText(value)
        : value;

function matcherText(matcher: object): string {
  const { toAsymmetricMatcher } = matcher as { toAsymmetricMatcher?: unknown };
  return typeof toAsymmetricMatcher === 'function'
    ? String(toAsymmetricMatcher.call(matcher))
    : '(matcher)';
}
