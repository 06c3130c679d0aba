import { AgentError, positive, show, whole } from '../errors/agent-error.ts';
import type { JsonObject } from '../json.ts';
import {
  readySchema,
  type AnySchema,
  type InputOf,
  type JsonSchema,
  type OutputOf,
} from './schema.ts';
import type { AnyTool, Call, Tool, ToolContext } from './tool.ts';

export interface ToolSpec<
  Name extends string = string,
  S extends AnySchema = AnySchema,
  Deps = {},
  Result = unknown,
> {
  readonly name: Name;
  readonly description: string;
  /** Standard Schema or JSON Schema; leave out for a tool without arguments. */
  readonly parameters?: S;
  /** The JSON form, for schema libraries that cannot give it themselves. */
  readonly jsonSchema?: JsonSchema;
  execute(args: OutputOf<S>, context: ToolContext<Deps>): Result;
  /** Default 60,000. */
  readonly timeoutMs?: number;
  readonly needsApproval?: boolean | ((args: OutputOf<S>) => boolean | Promise<boolean>);
  /** May be run again when a crash left its fate unknown. */
  readonly idempotent?: boolean;
  /** Longer results are cut, with a note that says so. Default 50,000. */
  readonly maxResultChars?: number;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_RESULT_CHARS = 50_000;
const noArguments: JsonSchema = { type: 'object', properties: {}, additionalProperties: false };

/** The schema of a tool without arguments. */
interface NoArguments extends JsonObject {
  readonly type: 'object';
  readonly properties: {};
}

/**
 * Makes a tool. The schema types the arguments, the annotation of the context types `deps`, and what `execute` returns
 * types the result.
 */
export function defineTool<
  const Name extends string,
  const S extends AnySchema = NoArguments,
  Deps = {},
  Result = unknown,
>(
  spec: ToolSpec<Name, S, Deps, Result>,
): Tool<NoInfer<Deps>, Call<Name, InputOf<S>, Awaited<Result>>> {
  const { name, description, parameters, jsonSchema, execute, needsApproval = false } = spec;
  if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name))
    throw invalidTool(`its name is ${show(name)}`, '1 to 64 letters, digits, "_" or "-"');
  if (typeof description !== 'string' || description.trim() === '')
    throw invalidTool(
      `${name} has no description`,
      'a sentence that tells the model when to use it',
    );
  if (typeof execute !== 'function')
    throw invalidTool(`${name}.execute is ${show(execute)}`, 'a function of (args, ctx)');
  const schema = readySchema(`Tool "${name}"`, parameters ?? noArguments, jsonSchema);
  return Object.freeze({
    name,
    description,
    jsonSchema: schema.jsonSchema,
    check: schema.check,
    timeoutMs: positive(`Tool "${name}" timeoutMs`, spec.timeoutMs ?? DEFAULT_TIMEOUT_MS),
    maxResultChars: whole(
      `Tool "${name}" maxResultChars`,
      spec.maxResultChars ?? DEFAULT_MAX_RESULT_CHARS,
    ),
    idempotent: spec.idempotent ?? false,
    needsApproval: approvalRule(needsApproval as ApprovalRule), // the argument type ends here
    execute: execute.bind(spec) as unknown as AnyTool['execute'], // args are checked against the schema first
  });
}

type ApprovalRule = boolean | ((args: unknown) => boolean | Promise<boolean>);

function approvalRule(rule: ApprovalRule): AnyTool['needsApproval'] {
  if (typeof rule === 'function') return rule;
  return rule ? () => true : null;
}

const invalidTool = (seen: string, expected: string): AgentError =>
  new AgentError('invalid_tool', `This is not a tool: ${seen}, expected ${expected}.`);
