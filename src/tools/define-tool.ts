import { AgentError, invalidOption, positive, show, whole } from '../errors/agent-error.ts';
import { ErrorHandlingDecision } from '../errors/error-type.ts';
import { checkedCount, type ToolErrorRule } from '../errors/retry-limits.ts';
import type { JsonObject } from '../json.ts';
import { CACHE_MARKS, isCacheMark, ttlOf, type CacheMark } from '../messages/cache-mark.ts';
import {
  readySchema,
  type AnySchema,
  type InputOf,
  type JsonSchema,
  type OutputOf,
} from './schema.ts';
import type { InputRequired } from './input-request.ts';
import type { AnyTool, Call, Tool, ToolContext } from './tool.ts';

export interface ToolSpec<
  Name extends string = string,
  S extends AnySchema = AnySchema,
  Deps = {},
  Result = unknown,
> {
  readonly name: Name;
  readonly description: string;
  /** Schema of the arguments: Standard Schema or JSON Schema. Absent for a tool without arguments. */
  readonly parameters?: S;
  /** The JSON Schema, for schema libraries that do not expose it. */
  readonly jsonSchema?: JsonSchema;
  execute(args: OutputOf<S>, context: ToolContext<Deps>): Result;
  /** Timeout of a call in milliseconds. Default 60,000. */
  readonly timeoutMs?: number;
  readonly needsApproval?: boolean | ((args: OutputOf<S>) => boolean | Promise<boolean>);
  /** Whether it may run again if a crash left its result unknown. Default: false. */
  readonly idempotent?: boolean;
  /** Maximum characters of a result; longer ones are truncated with a note. Default 50,000. */
  readonly maxResultChars?: number;
  /**
   * Whether an error of this tool stops the run, lets the model try again, or is ignored. Applies before the error
   * policy of the agent. Default: `retry` if `maxRetries` is set, else as the policy says.
   */
  readonly onError?: ErrorHandlingDecision;
  /** Retries after failures of this tool in a row in the execution. Default: the count of the error policy. */
  readonly maxRetries?: number;
  /** Cache mark at the end of this tool, which covers the tools before it too. */
  readonly cache?: CacheMark;
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
 * Creates a tool. The schema types the arguments, the annotation of the context types `deps`, and the return value of
 * `execute` types the result.
 */
export function defineTool<
  const Name extends string,
  const S extends AnySchema = NoArguments,
  Deps = {},
  Result = unknown,
>(
  spec: ToolSpec<Name, S, Deps, Result>,
): Tool<NoInfer<Deps>, Call<Name, InputOf<S>, Exclude<Awaited<Result>, InputRequired>>> {
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
    ...errorRule(spec),
    ...cacheRule(spec),
    needsApproval: approvalRule(needsApproval as ApprovalRule), // the argument type ends here
    // the arguments are checked against the schema first
    execute: execute.bind(spec) as unknown as AnyTool['execute'],
  });
}

function errorRule({
  name,
  onError,
  maxRetries,
}: Pick<ToolSpec, 'name' | 'onError' | 'maxRetries'>): ToolErrorRule {
  if (onError !== undefined && !decisions.includes(onError))
    throw invalidOption(`Tool "${name}" onError`, onError, `one of ${decisions.join(', ')}`);
  if (maxRetries === undefined) return onError === undefined ? {} : { onError };
  if (onError === 'stop' || onError === 'ignore')
    throw invalidOption(
      `Tool "${name}" maxRetries`,
      maxRetries,
      `none, because onError is ${onError}`,
    );
  return { onError: 'retry', maxRetries: checkedCount(`Tool "${name}" maxRetries`, maxRetries) };
}

function cacheRule({ name, cache }: Pick<ToolSpec, 'name' | 'cache'>): Pick<AnyTool, 'cache'> {
  if (cache !== undefined && !isCacheMark(cache))
    throw invalidOption(`Tool "${name}" cache`, cache, CACHE_MARKS);
  const ttl = ttlOf(cache);
  return ttl === false ? {} : { cache: ttl };
}

const decisions: readonly ErrorHandlingDecision[] =
  /* @__PURE__ */ Object.values(ErrorHandlingDecision);

type ApprovalRule = boolean | ((args: unknown) => boolean | Promise<boolean>);

function approvalRule(rule: ApprovalRule): AnyTool['needsApproval'] {
  if (typeof rule === 'function') return rule;
  return rule ? () => true : null;
}

const invalidTool = (seen: string, expected: string): AgentError =>
  new AgentError('invalid_tool', `This is not a tool: ${seen}, expected ${expected}.`);
