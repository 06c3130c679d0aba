import { partsOf, type AnyAgent } from '../../agent/agent.ts';
import { AgentError, show } from '../../errors/agent-error.ts';
import { defaultRedactor } from '../../errors/redactor.ts';
import { isRecord, jsonCopy, type JsonObject, type JsonValue } from '../../json.ts';
import { readySchema } from '../../tools/schema.ts';
import { visibleLines } from '../../visible-text.ts';
import { toolNames } from '../tool-names.ts';

/** An agent with texts for clients. */
export interface McpAgent {
  readonly agent: AnyAgent;
  /** Name to show. Default: the name of the agent. */
  readonly title?: string;
  /** When to use the agent. Clients show it to their models. */
  readonly description?: string;
}

/** An agent as clients see it. */
export interface AgentTool {
  /** Name of the agent. */
  readonly agent: string;
  /** Definition on the wire. */
  readonly definition: JsonObject & { readonly name: string };
  /** Whether an output is what the definition says. */
  fits(output: unknown): boolean | Promise<boolean>;
}

/** Most characters of a message to an agent. */
export const MAX_MESSAGE = 100_000;
/** Most characters of a schema that is passed on to clients. */
const MAX_SCHEMA = 65_536;
const MAX_DESCRIPTION = 4_000;

const inputSchema: JsonObject = {
  type: 'object',
  properties: {
    message: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_MESSAGE,
      description: 'The message to the agent. Required without sessionId.',
    },
    sessionId: {
      type: 'string',
      minLength: 1,
      maxLength: 128,
      description:
        'The session of an earlier result. With a message, the conversation continues. Alone, it waits for the session and ' +
        'returns its result.',
    },
  },
  additionalProperties: false,
};

/** What a call returns, next to the text for the model. */
export const callStatuses = ['completed', 'working', 'waiting', 'stopped', 'failed'] as const;
export type CallStatus = (typeof callStatuses)[number];

const outputSchema = (output: JsonObject): JsonObject => ({
  type: 'object',
  properties: {
    sessionId: { type: 'string' },
    status: { type: 'string', enum: [...callStatuses] },
    output,
    explanation: { type: 'string', description: 'Why there is no answer, or no whole one.' },
    waitingFor: {
      type: 'array',
      description: 'What a person has to answer before the agent continues.',
      items: {
        type: 'object',
        properties: { tool: { type: 'string' }, asks: { type: 'string' } },
        required: ['tool', 'asks'],
      },
    },
    next: { type: 'string', description: 'What to do next.' },
  },
  required: ['status'],
});

/** Returns the tools of the agents, by the name that clients call. */
export function agentTools(
  all: readonly AnyAgent[],
  given: readonly (AnyAgent | McpAgent)[] | undefined,
): ReadonlyMap<string, AgentTool> {
  const entries = (given ?? all).map((one): McpAgent => ('agent' in one ? one : { agent: one }));
  for (const { agent } of entries)
    if (!all.some(({ name }) => name === agent.name))
      throw new AgentError(
        'unknown_agent',
        `mcpServer agents has ${show(agent.name)}, expected agents of the runtime: ${all.map(({ name }) => name).join(', ')}.`,
      );
  const names = toolNames(
    null,
    entries.map(({ agent }) => agent.name),
  );
  return new Map(
    entries.map((entry) => {
      const tool = agentTool(entry, names.get(entry.agent.name) ?? entry.agent.name);
      return [tool.definition.name, tool];
    }),
  );
}

function agentTool({ agent, title, description }: McpAgent, name: string): AgentTool {
  const about = description ?? `Sends a message to the agent "${agent.name}".`;
  const shown = (text: string): string => visibleLines(defaultRedactor.text(text));
  const { schema, check } = outputOf(agent);
  const definition = {
    name,
    title: shown(title ?? agent.name),
    description:
      `${shown(about.slice(0, MAX_DESCRIPTION))}\n\nThe result has a sessionId. Pass it to continue the conversation, or to ` +
      'wait for an agent that is still working.',
    inputSchema,
    outputSchema: outputSchema(schema),
  };
  return { agent: agent.name, definition, fits: check };
}

/** Returns the schema of the output below `output`, and its check. What cannot be moved there is any value. */
function outputOf(agent: AnyAgent): {
  readonly schema: JsonObject;
  readonly check: AgentTool['fits'];
} {
  const schema = partsOf(agent)?.definition.response?.format.schema ?? null;
  const isText = (value: unknown): boolean => typeof value === 'string';
  if (schema === null) return { schema: { type: 'string' }, check: isText };
  const anything = { schema: {}, check: () => true };
  const { value, isTruncated } = jsonCopy(schema);
  if (isTruncated || JSON.stringify(value).length > MAX_SCHEMA) return anything;
  const moved = movedRefs(value);
  if (!isRecord(moved)) return anything;
  try {
    const ready = readySchema(`The output of ${show(agent.name)}`, schema);
    return { schema: moved, check: async (output) => (await ready.check(output)).ok };
  } catch {
    return anything; // a keyword that other validators may know
  }
}

/** Keywords that give a schema another base, from which references are resolved. */
const ownBase = new Set(['$id', 'id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef']);
/** Keywords whose keys are names. */
const maps = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);
/** Keywords whose values are data. */
const data = new Set(['const', 'default', 'enum', 'examples']);

/** Returns undefined for a schema whose references cannot be followed from another place. */
function movedRefs(value: JsonValue, isMap: boolean = false): JsonValue | undefined {
  if (Array.isArray(value)) {
    const items = value.map((item: JsonValue) => movedRefs(item));
    return items.every((item) => item !== undefined) ? items : undefined;
  }
  if (!isRecord(value)) return value;
  const moved: [string, JsonValue][] = [];
  for (const [key, inner] of Object.entries(value)) {
    if (!isMap && key === '$schema') continue;
    if (!isMap && ownBase.has(key)) return undefined;
    const made =
      !isMap && key === '$ref'
        ? movedRef(inner)
        : !isMap && data.has(key)
          ? inner
          : movedRefs(inner, !isMap && maps.has(key));
    if (made === undefined) return undefined;
    moved.push([key, made]);
  }
  return Object.fromEntries(moved);
}

const movedRef = (ref: JsonValue): string | undefined =>
  typeof ref === 'string' && ref.startsWith('#') ? `#/properties/output${ref.slice(1)}` : undefined;
