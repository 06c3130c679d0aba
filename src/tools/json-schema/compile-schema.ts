import { isRecord } from '../../json.ts';
import { addAll, Run, SchemaProblem, type Check } from './check.ts';
import { inPlaceKeywords } from './in-place-keywords.ts';
import { arrayKeywords } from './array-keywords.ts';
import { objectKeywords } from './object-keywords.ts';
import { SchemaRefs } from './schema-refs.ts';
import { simpleKeywords } from './simple-keywords.ts';
import { unevaluatedKeywords } from './unevaluated-keywords.ts';

/** What keywords need to make their checks. */
export interface Compiler {
  /** The check of a schema below. */
  check(schema: unknown): Check;
  /** The check of what a reference names. */
  refer(from: object, ref: string): Check;
}

/** Makes the checks of some keywords out of the schema that holds them. */
export type Keywords = (
  schema: Readonly<Record<string, unknown>>,
  compiler: Compiler,
) => readonly Check[];

/**
 * The check of a JSON Schema (2020-12, and the older spellings of lists and dependencies), made once. It reads every
 * value once per keyword, whatever the value is. Gives what is wrong as sentences; throws a {@link SchemaProblem}.
 */
export function compileSchema(schema: unknown): (value: unknown) => readonly string[] {
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
    // before its parts: schemas may refer to themselves
    made.set(part, whole);
    for (const keywords of [inPlaceKeywords, simpleKeywords, objectKeywords, arrayKeywords])
      checks.push(...keywords(part, { check, refer }));
    rest.push(...unevaluatedKeywords(part, { check, refer }));
    return whole;
  };
  const refer = (from: object, ref: string): Check => {
    const target = refs.find(from, ref);
    if (target === undefined) throw new SchemaProblem(`$ref "${ref}" names no schema in it`);
    const inner = check(target);
    if (!isRecord(target)) return inner;
    return (value, at, run, seen) => run.once(target, inner, value, at, seen);
  };

  const root = check(schema);
  return (value) => {
    const run = new Run();
    if (root(value, null, run, null)) return [];
    return run.problems.length > 0 ? run.problems : ['The value does not match its schema.'];
  };
}
