import { isRecord } from '../../json.ts';
import { every, shortKey, type Check } from './check.ts';
import type { Keywords } from './compile-schema.ts';

/** Creates the checks of parts that no other keyword has evaluated; they run last. */
export const unevaluatedKeywords: Keywords = (schema, compiler) => {
  const { unevaluatedProperties, unevaluatedItems } = schema;
  const checks: Check[] = [];
  if (unevaluatedProperties !== undefined) {
    const inner = compiler.check(unevaluatedProperties);
    checks.push((value, above, run, seen) => {
      if (!isRecord(value)) return true;
      return every(Object.keys(value), run, (key) => {
        if (seen?.has(key)) return true;
        seen?.add(key);
        if (unevaluatedProperties === false)
          return run.fail(
            above,
            `Property "${shortKey(key)}" does not match unevaluated properties schema.`,
          );
        return inner(value[key], { above, key }, run, null);
      });
    });
  }
  if (unevaluatedItems !== undefined) {
    const inner = compiler.check(unevaluatedItems);
    checks.push((value, above, run, seen) => {
      if (!Array.isArray(value)) return true;
      return every<unknown>(value, run, (item, key) => {
        if (seen?.has(key)) return true;
        seen?.add(key);
        return inner(item, { above, key }, run, null);
      });
    });
  }
  return checks;
};
