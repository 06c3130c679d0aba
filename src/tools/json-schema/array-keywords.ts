import { canonicalJson } from '../../json.ts';
import { every, type Check, type Place, type Run, type Seen } from './check.ts';
import type { Compiler, Keywords } from './compile-schema.ts';

type ArrayCheck = (
  value: readonly unknown[],
  at: Place | null,
  run: Run,
  seen: Seen | null,
) => boolean;

/** Wraps a check that applies only to lists. */
const forArrays =
  (check: ArrayCheck): Check =>
  (value, at, run, seen) =>
    !Array.isArray(value) || check(value, at, run, seen);

/** Creates the checks of list keywords. */
export const arrayKeywords: Keywords = (schema, compiler) => {
  const checks: Check[] = [];
  const items = itemsCheck(schema, compiler);
  if (items) checks.push(forArrays(items));
  if (schema['contains'] !== undefined) checks.push(forArrays(containsCheck(schema, compiler)));
  if (schema['uniqueItems'] === true) checks.push(forArrays(uniqueCheck));
  return checks;
};

/** Checks `prefixItems` and `items`, or the older form: a list of `items` and `additionalItems`. */
function itemsCheck(
  schema: Readonly<Record<string, unknown>>,
  compiler: Compiler,
): ArrayCheck | null {
  const { prefixItems, items, additionalItems } = schema;
  const isOld = Array.isArray(items);
  const first = isOld ? items : Array.isArray(prefixItems) ? prefixItems : [];
  const behind = isOld ? additionalItems : items;
  const firstChecks = first.map((part: unknown) => compiler.check(part));
  const other = behind === undefined ? null : compiler.check(behind);
  if (firstChecks.length === 0 && other === null) return null;
  return (value, above, run, seen) =>
    every(value, run, (item, key) => {
      const check = firstChecks[key] ?? other;
      if (!check) return true;
      seen?.add(key);
      return check(item, { above, key }, run, null);
    });
}

function containsCheck(schema: Readonly<Record<string, unknown>>, compiler: Compiler): ArrayCheck {
  const inner = compiler.check(schema['contains']);
  const { minContains, maxContains } = schema;
  const least = typeof minContains === 'number' ? minContains : 1;
  const most = typeof maxContains === 'number' ? maxContains : Infinity;
  return (value, above, run, seen) => {
    let count = 0;
    for (const [key, item] of value.entries()) {
      if (!run.quietly(() => inner(item, { above, key }, run, null))) continue;
      seen?.add(key);
      count += 1;
    }
    if (count < least)
      return run.fail(
        above,
        `Array must contain at least ${least} items matching schema. Only ${count} items were found.`,
      );
    return (
      count <= most ||
      run.fail(
        above,
        `Array may contain at most ${most} items matching schema. ${count} items were found.`,
      )
    );
  };
}

/** Compares items by their JSON, each written once: no item is compared with all others. */
function uniqueCheck(value: readonly unknown[], at: Place | null, run: Run): boolean {
  const known = new Map<string, number>();
  for (const [index, item] of value.entries()) {
    const text = canonicalJson(item);
    const before = known.get(text);
    if (before !== undefined)
      return run.fail(at, `Duplicate items at indexes ${before} and ${index}.`);
    known.set(text, index);
  }
  return true;
}
