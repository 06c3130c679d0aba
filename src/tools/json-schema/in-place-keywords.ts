import { isRecord } from '../../json.ts';
import { addAll, type Check, type Seen } from './check.ts';
import type { Compiler, Keywords } from './compile-schema.ts';

/** Creates the checks of keywords that apply other schemas to the same value. */
export const inPlaceKeywords: Keywords = (schema, compiler) => {
  const checks: Check[] = [];
  for (const key of ['$ref', '$dynamicRef', '$recursiveRef']) {
    const ref = schema[key];
    if (typeof ref === 'string') checks.push(compiler.refer(schema, ref));
  }
  const { allOf, anyOf, oneOf, not } = schema;
  if (Array.isArray(allOf)) for (const part of allOf) checks.push(compiler.check(part));
  if (Array.isArray(anyOf)) checks.push(choice(anyOf, compiler, false));
  if (Array.isArray(oneOf)) checks.push(choice(oneOf, compiler, true));
  if (not !== undefined) {
    const inner = compiler.check(not);
    checks.push((value, at, run) =>
      run.quietly(() => inner(value, at, run, null))
        ? run.fail(at, 'Instance matched "not" schema.')
        : true,
    );
  }
  if (schema['if'] !== undefined) checks.push(condition(schema, compiler));
  return [...checks, ...dependent(schema, compiler)];
};

/** Checks every alternative; reports the problems of failed alternatives only if none matches. */
function choice(parts: readonly unknown[], compiler: Compiler, isExclusive: boolean): Check {
  const inner = parts.map((part) => compiler.check(part));
  return (value, at, run, seen) => {
    const before = run.problems.length;
    let matches = 0;
    for (const one of inner) {
      const own: Seen | null = seen && new Set();
      if (!one(value, at, run, own)) continue;
      matches += 1;
      addAll(seen, own);
      // others matter for what they have evaluated, or because one match too many is an error
      if (!isExclusive && seen === null) break;
    }
    const fits = isExclusive ? matches === 1 : matches > 0;
    const problemsOfParts = run.problems.splice(before);
    if (fits) return true;
    run.fail(
      at,
      isExclusive
        ? `Instance does not match exactly one subschema (${matches} matches).`
        : 'Instance does not match any subschemas.',
    );
    if (matches === 0) run.problems.push(...problemsOfParts);
    return false;
  };
}

function condition(schema: Readonly<Record<string, unknown>>, compiler: Compiler): Check {
  const test = compiler.check(schema['if']);
  const yes = compiler.check(schema['then'] ?? true);
  const no = compiler.check(schema['else'] ?? true);
  return (value, at, run, seen) => {
    const own: Seen | null = seen && new Set();
    if (!run.quietly(() => test(value, at, run, own))) return no(value, at, run, seen);
    addAll(seen, own);
    return yes(value, at, run, seen);
  };
}

/** Checks `dependentSchemas`, `dependentRequired` and their older form: what a key requires of the rest. */
function dependent(
  schema: Readonly<Record<string, unknown>>,
  compiler: Compiler,
): readonly Check[] {
  const { dependentSchemas, dependentRequired, dependencies } = schema;
  const rules = [dependentSchemas, dependentRequired, dependencies]
    .filter(isRecord)
    .flatMap((map) => Object.entries(map));
  return rules.map(([key, rule]): Check => {
    const applies = (value: unknown): value is object =>
      isRecord(value) && Object.hasOwn(value, key);
    if (Array.isArray(rule))
      return (value, at, run) => {
        if (!applies(value)) return true;
        const missing = rule.find((name) => !Object.hasOwn(value, String(name)));
        return missing === undefined
          ? true
          : run.fail(at, `Instance has "${key}" but does not have "${missing}".`);
      };
    const inner = compiler.check(rule);
    return (value, at, run, seen) => !applies(value) || inner(value, at, run, seen);
  });
}
