import { isRecord } from '../../json.ts';
import { every, shortKey, type Check, type Place, type Run, type Seen } from './check.ts';
import type { Compiler, Keywords } from './compile-schema.ts';
import { readyPattern } from './simple-keywords.ts';

type ObjectCheck = (
  value: Readonly<Record<string, unknown>>,
  at: Place | null,
  run: Run,
  seen: Seen | null,
) => boolean;

/** Wraps a check that applies only to objects. */
const forObjects =
  (check: ObjectCheck): Check =>
  (value, at, run, seen) =>
    !isRecord(value) || check(value, at, run, seen);

/** Creates the checks of object keywords. */
export const objectKeywords: Keywords = (schema, compiler) => {
  const { required, propertyNames } = schema;
  const checks: Check[] = [];
  if (Array.isArray(required))
    checks.push(
      forObjects((value, at, run) => {
        const missing = required.filter((key) => !Object.hasOwn(value, String(key)));
        for (const key of missing)
          run.fail(at, `Instance does not have required property "${key}".`);
        return missing.length === 0;
      }),
    );
  if (propertyNames !== undefined) {
    const names = compiler.check(propertyNames);
    checks.push(
      forObjects((value, at, run) =>
        every(Object.keys(value), run, (key) =>
          run.quietly(() => names(key, at, run, null))
            ? true
            : run.fail(at, `Property name "${shortKey(key)}" does not match schema.`),
        ),
      ),
    );
  }
  const inner = propertiesCheck(schema, compiler);
  if (inner) checks.push(forObjects(inner));
  return checks;
};

/** Checks `properties`, `patternProperties`, and the rule for all other keys. */
function propertiesCheck(
  schema: Readonly<Record<string, unknown>>,
  compiler: Compiler,
): ObjectCheck | null {
  const { properties, patternProperties, additionalProperties } = schema;
  const named = Object.entries(isRecord(properties) ? properties : {}).map(
    ([key, part]) => [key, compiler.check(part)] as const,
  );
  const names = new Set(named.map(([key]) => key));
  const patterns = Object.entries(isRecord(patternProperties) ? patternProperties : {}).map(
    ([source, part]) => ({
      pattern: readyPattern(source, compiler.rules),
      check: compiler.check(part),
    }),
  );
  const other = additionalProperties === undefined ? null : compiler.check(additionalProperties);
  if (named.length === 0 && patterns.length === 0 && other === null) return null;
  const asksKeys = patterns.length > 0 || other !== null;

  return (value, above, run, seen) => {
    const fitsNamed = every(named, run, ([key, check]) => {
      if (!Object.hasOwn(value, key)) return true;
      seen?.add(key);
      return check(value[key], { above, key }, run, null);
    });
    if (!asksKeys || (!fitsNamed && run.isQuiet)) return fitsNamed;
    const fitsKeys = every(Object.keys(value), run, (key) => {
      let isKnown = names.has(key);
      let fits = true;
      for (const { pattern, check } of patterns) {
        const matches = pattern.test(key);
        if (matches === undefined)
          fits = run.fail(
            above,
            `Property name of ${key.length} characters is too long for its pattern.`,
          );
        if (!matches) continue;
        isKnown = true;
        if (!check(value[key], { above, key }, run, null)) fits = false;
      }
      if (isKnown || other !== null) seen?.add(key);
      if (isKnown || other === null) return fits;
      if (additionalProperties === false)
        return run.fail(
          above,
          `Property "${shortKey(key)}" does not match additional properties schema.`,
        );
      return other(value[key], { above, key }, run, null) && fits;
    });
    return fitsNamed && fitsKeys;
  };
}
