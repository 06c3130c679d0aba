import { AgentError, show } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import type { FromJsonSchema } from './from-json-schema.ts';
import { jsonSchemaCheck, type Checked, type JsonSchema } from './json-schema-check.ts';
import { withoutFullStop } from '../sentence.ts';

export type { Checked, JsonSchema } from './json-schema-check.ts';

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

/** The part of Standard Schema that is used: zod, valibot and arktype all satisfy it. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly vendor: string;
    validate(value: unknown): StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      input(options: { readonly target: 'draft-2020-12' }): Record<string, unknown>;
    };
  };
}

/** Any Standard Schema, or plain JSON Schema. */
export type AnySchema = StandardSchema | JsonSchema;

/** A checked value: the argument of `execute`, or `state.output`. */
export type OutputOf<S> = S extends StandardSchema
  ? NonNullable<S['~standard']['types']>['output']
  : FromJsonSchema<S>;

/** The value from the model, before defaults and transforms, as in events and approvals. */
export type InputOf<S> = S extends StandardSchema
  ? NonNullable<S['~standard']['types']>['input']
  : FromJsonSchema<S>;

/** A prepared schema: its JSON form for the model, its check for the answer. */
export interface ReadySchema {
  readonly jsonSchema: JsonSchema;
  check(value: unknown): Checked | Promise<Checked>;
}

/** Prepares a schema. `what` names the owner in errors; `jsonSchema` is for schema libraries that do not expose one. */
export function readySchema(what: string, schema: AnySchema, jsonSchema?: JsonSchema): ReadySchema {
  if (isStandard(schema))
    return { jsonSchema: jsonSchema ?? jsonSchemaOf(what, schema), check: standardCheck(schema) };
  if (!isRecord(schema))
    throw new AgentError(
      'invalid_option',
      `${what} got ${show(schema)}, expected a Standard Schema (zod, valibot, arktype) or a JSON Schema object.`,
    );
  return { jsonSchema: schema, check: jsonSchemaCheck(what, schema) };
}

const isStandard = (schema: AnySchema): schema is StandardSchema =>
  (typeof schema === 'object' || typeof schema === 'function') &&
  schema !== null &&
  isRecord((schema as Partial<StandardSchema>)['~standard']);

function jsonSchemaOf(what: string, schema: StandardSchema): JsonSchema {
  const { vendor, jsonSchema } = schema['~standard'];
  const arktype = (schema as { toJsonSchema?: () => unknown }).toJsonSchema;
  try {
    const made = jsonSchema?.input({ target: 'draft-2020-12' }) ?? arktype?.call(schema);
    if (isRecord(made)) {
      const { $schema: _dialect, '~standard': _standard, ...rest } = made;
      return rest as JsonSchema;
    }
  } catch (cause) {
    throw new AgentError('invalid_option', `${what} has a schema without a JSON form.`, { cause });
  }
  throw new AgentError(
    'invalid_option',
    `${what} has a ${vendor} schema that does not expose a JSON Schema. Wrap it (valibot: toStandardJsonSchema from ` +
      '@valibot/to-json-schema) or pass the JSON form as `jsonSchema`.',
  );
}

function standardCheck(schema: StandardSchema): ReadySchema['check'] {
  const { '~standard': standard } = schema;
  return (value) => {
    const result = standard.validate(value);
    return isThenable(result) ? Promise.resolve(result).then(checkedResult) : checkedResult(result);
  };
}

/** Whether a result is a promise, even of another realm. Read as a result, it would pass any value. */
const isThenable = <T>(result: T | PromiseLike<T>): result is PromiseLike<T> =>
  typeof (result as { readonly then?: unknown }).then === 'function';

const checkedResult = (result: StandardResult<unknown>): Checked =>
  result.issues
    ? { ok: false, message: result.issues.map(issueText).join('; ') }
    : { ok: true, value: result.value };

function issueText({ path, message }: Issue): string {
  const keys = path?.map((key) => String(typeof key === 'object' ? key.key : key)) ?? [];
  // several problems are joined into one sentence
  const words = withoutFullStop(message);
  return keys.length > 0 ? `${keys.join('.')}: ${words}` : words;
}
