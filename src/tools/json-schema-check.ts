import { AgentError } from '../errors/agent-error.ts';
import type { JsonObject } from '../json.ts';
import { SchemaProblem } from './json-schema/check.ts';
import { compileSchema } from './json-schema/compile-schema.ts';
import type { Pattern } from './json-schema/pattern.ts';
import { onDemand } from '../on-demand.ts';

export type JsonSchema = JsonObject;

export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** Checks one value; a promise if the first value has to load the rules for texts. */
export type SchemaCheck = (value: unknown) => Checked | Promise<Checked>;

/** Creates the check of a plain JSON Schema. `what` names its owner in errors. */
export function jsonSchemaCheck(what: string, schema: JsonSchema): SchemaCheck {
  try {
    let isPlain = true;
    const problemsOf = compileSchema(schema, {
      formatOf() {
        isPlain = false;
        return undefined;
      },
      patternOf(): Pattern {
        isPlain = false;
        return { test: () => true };
      },
    });
    return isPlain ? (value) => checkedProblems(value, problemsOf) : checkWithRules(schema);
  } catch (error) {
    if (!(error instanceof SchemaProblem)) throw error;
    throw new AgentError(
      'invalid_option',
      `${what} has a JSON Schema that cannot be checked: ${error.message}. Change it, or check the value in the tool.`,
    );
  }
}

type ProblemsOf = ReturnType<typeof compileSchema>;

/** Creates a check that loads the text rules with the first value. */
function checkWithRules(schema: JsonSchema): SchemaCheck {
  let problemsOf: ProblemsOf | null = null;
  const load = async (): Promise<ProblemsOf> => {
    const { textRules } = await onDemand(import('./json-schema/text-rules.ts'));
    return (problemsOf ??= compileSchema(schema, textRules));
  };
  return (value) =>
    problemsOf
      ? checkedProblems(value, problemsOf)
      : load().then((loaded) => checkedProblems(value, loaded));
}

function checkedProblems(value: unknown, problemsOf: ProblemsOf): Checked {
  const problems = problemsOf(value);
  return problems.length === 0 ? { ok: true, value } : { ok: false, message: problems.join(' ') };
}
