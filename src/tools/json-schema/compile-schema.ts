import { isRecord } from '../../json.ts';
import { addAll, Run, SchemaProblem, type Check } from './check.ts';
import { inPlaceKeywords } from './in-place-keywords.ts';
import { arrayKeywords } from './array-keywords.ts';
import { objectKeywords } from './object-keywords.ts';
import { SchemaRefs } from './schema-refs.ts';
import { simpleKeywords } from './simple-keywords.ts';
import type { TextRules } from './text-rules.ts';
import { unevaluatedKeywords } from './unevaluated-keywords.ts';

/** What keywords need to create their checks. */
export interface Compiler {
  readonly rules: TextRules;
  /** The check of a schema below. */
  check(schema: unknown): Check;
  /** Returns the check of a reference. */
  refer(from: object, ref: string): Check;
}

/** Creates the checks of some keywords from their schema. */
export type Keywords = (
  schema: Readonly<Record<string, unknown>>,
  compiler: Compiler,
) => readonly Check[];

/**
 * Compiles a JSON Schema (2020-12, and the older forms of lists and dependencies) once. The check reads every value
 * once per keyword and returns problems as sentences. Throws a {@link SchemaProblem}.
 */
export function compileSchema(
  schema: unknown,
  rules: TextRules,
): (value: unknown) => readonly string[] {
  const refs = new SchemaRefs(schema);
  const made = new Map<object, Check>();

  const check = (part: unknown): Check => {
    if (part === false) return (_value, at, run) => run.fail(at, 'False boolean schema.');
    if (!isRecord(part)) return () => true;
    const known = made.get(part);
    if (known) return known;
    const checks: Check[] = [];
    const rest: Check[] = [];
    const whole: Check = (value, at, run, seen) => {
      const own = rest.length > 0 ? new Set<string | number>() : seen;
      let fits = true;
      for (const some of [checks, rest])
        for (const one of some) {
          if (!one(value, at, run, own)) fits = false;
          if (!fits && run.isQuiet) return false;
        }
      if (own !== seen) addAll(seen, own);
      return fits;
    };
    // before its parts, because schemas may refer to themselves
    made.set(part, whole);
    for (const keywords of [inPlaceKeywords, simpleKeywords, objectKeywords, arrayKeywords])
      checks.push(...keywords(part, compiler));
    rest.push(...unevaluatedKeywords(part, compiler));
    return whole;
  };
  const refer = (from: object, ref: string): Check => {
    const target = refs.find(from, ref);
    if (target === undefined) throw new SchemaProblem(`$ref "${ref}" refers to no schema in it`);
    const inner = check(target);
    if (!isRecord(target)) return inner;
    return (value, at, run, seen) => run.once(target, inner, value, at, seen);
  };

  const compiler: Compiler = { check, refer, rules };
  const root = check(schema);
  return (value) => {
    const run = new Run();
    if (root(value, null, run, null)) return [];
    return run.problems.length > 0 ? run.problems : ['The value does not match its schema.'];
  };
}
