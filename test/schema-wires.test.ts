import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createAgent, defineTool, type AnySchema } from 'onward';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { isRecord } from '../src/json.ts';
import { wires, type Wire } from './setup/provider-wires.ts';
import { ScriptedProvider } from './setup/scripted-provider.ts';

interface Tree {
  readonly name: string;
  readonly children: readonly Tree[];
}
const tree: z.ZodType<Tree> = z.object({
  name: z.string(),
  get children() {
    return z.array(tree);
  },
});
const address = z.object({ street: z.string() }).meta({ id: 'Address' });
const wellKnown = '^(?!\\.)[a-z.]+@[a-z]+$';

/** Response formats that at least one provider refuses as they are, with an answer of each. */
const formats: readonly (readonly [string, AnySchema, unknown])[] = [
  ['closed', z.object({ city: z.string() }), { city: 'Ghent' }],
  ['a recursive one', tree, { name: 'a', children: [{ name: 'b', children: [] }] }],
  [
    'definitions with a description',
    z.object({ home: address.describe('Where they live.'), work: address }),
    { home: { street: 'a' }, work: { street: 'b' } },
  ],
  [
    'a choice of objects',
    z.object({
      shape: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('square'), side: z.number() }),
        z.object({ kind: z.literal('circle') }),
      ]),
    }),
    { shape: { kind: 'circle' } },
  ],
  ['a dictionary', z.object({ counts: z.record(z.string(), z.int()) }), { counts: { a: 1 } }],
  ['an optional field', z.object({ a: z.string().optional(), b: z.string() }), { b: 'x' }],
  ['values of several types', z.object({ level: z.literal(['high', 1]) }), { level: 1 }],
  ['bounds', z.object({ rows: z.array(z.int().min(1).max(5)).min(2) }), { rows: [1, 2] }],
  [
    'a pattern with lookaround',
    {
      type: 'object',
      properties: { mail: { type: 'string', pattern: wellKnown } },
      required: ['mail'],
    },
    { mail: 'a@b' },
  ],
  [
    'a list of anything, and an object or null',
    {
      type: 'object',
      properties: { rows: { type: 'array' }, more: { type: ['object', 'null'] } },
      required: ['rows', 'more'],
      additionalProperties: false,
    },
    { rows: [1], more: null },
  ],
];

/** Every schema of a JSON value, with its path. */
function* objectsIn(value: unknown, path = '$'): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (isRecord(value)) yield [path, value];
  for (const [key, inner] of Object.entries(value)) yield* objectsIn(inner, `${path}.${key}`);
}

/** What OpenAI answers 400 to in strict mode, and what every provider refuses. */
function* refusedIn(body: unknown): Generator<string> {
  for (const [path, value] of objectsIn(body)) {
    if (typeof value['pattern'] === 'string' && /\(\?<?[=!]/.test(value['pattern']))
      yield `${path}: lookaround`;
    if (value['strict'] === true && isRecord(value['schema']))
      yield* looseIn(value['schema'], path);
  }
}

function* looseIn(schema: Record<string, unknown>, at: string): Generator<string> {
  for (const [path, value] of objectsIn(schema, at)) {
    if (/\.(?:properties|\$defs)$/.test(path)) continue;
    const { type, properties, required, items, $ref } = value;
    if ($ref !== undefined && Object.keys(value).length > 1) yield `${path}: beside a reference`;
    const isObject = [type].flat().includes('object') || properties !== undefined;
    const listed = Array.isArray(required) ? required : [];
    const names = isRecord(properties) ? Object.keys(properties) : [null];
    if (isObject && value['additionalProperties'] !== false) yield `${path}: open`;
    if (isObject && names.some((name) => !listed.includes(name))) yield `${path}: incomplete`;
    if (type === 'array' && !isRecord(items)) yield `${path}: a list of anything`;
    if (![type, $ref, value['anyOf']].some((said) => said !== undefined)) yield `${path}: no type`;
    if ('oneOf' in value) yield `${path}: oneOf`;
  }
}

const lookup = defineTool({
  name: 'lookup',
  description: 'Looks a person up.',
  parameters: {
    type: 'object',
    properties: {
      mail: { type: 'string', pattern: wellKnown },
      level: { enum: ['high', 1] },
      parent: { $ref: '#' },
      other: { $ref: '#/properties/mail' },
    },
  },
  execute: () => 'seen',
});

async function answerOf(wire: Wire, responseFormat: AnySchema, answer: unknown) {
  const text = JSON.stringify(answer);
  const provider = new ScriptedProvider(wire, [
    { calls: [{ name: 'lookup', args: '{"mail":"a@b","level":1}' }] },
    { text },
  ]);
  const state = await createAgent({
    model: provider.model,
    responseFormat,
    tools: [lookup],
  }).run('go');
  return { state, provider };
}

const oldGemini: Wire = {
  ...(wires.find(({ name }) => name.includes('Google')) as Wire),
  name: 'AI SDK with Google, before Gemini 3',
  model: (fetch) =>
    createGoogleGenerativeAI({ apiKey: 'none', baseURL: 'http://127.0.0.1:9/v1', fetch })(
      'gemini-2.5-flash',
    ),
};

describe.each([...wires, oldGemini].map((wire) => [wire.name, wire] as const))(
  'D89, %s: a schema leaves as the provider accepts it',
  (_name, wire) => {
    it.each(formats)('%s', async (_what, format, answer) => {
      const { state, provider } = await answerOf(wire, format, answer);
      expect(state.steps.toJSON().flatMap(({ errors }) => errors)).toEqual([]);
      expect(state.output).toEqual(answer);
      expect(provider.bodies).toHaveLength(2);
      expect(provider.bodies.flatMap((body) => [...refusedIn(body)])).toEqual([]);
    });
  },
);

it('Gemini gets a schema beside tools as a text before version 3, which refuses both', async () => {
  const { provider } = await answerOf(oldGemini, z.object({ city: z.string() }), { city: 'Ghent' });
  const [{ generationConfig, systemInstruction } = {}] = provider.bodies;
  expect(generationConfig).not.toHaveProperty('responseMimeType');
  expect(JSON.stringify(systemInstruction)).toContain('JSON Schema');
});

it('Gemini gets a recursive schema as a text, and answers in JSON', async () => {
  const gemini = wires.find(({ name }) => name.includes('Google')) as Wire;
  const { provider } = await answerOf(gemini, tree, { name: 'a', children: [] });
  const [{ generationConfig, systemInstruction } = {}] = provider.bodies;
  expect(generationConfig).toMatchObject({ responseMimeType: 'application/json' });
  expect(generationConfig).not.toHaveProperty('responseSchema');
  expect(JSON.stringify(systemInstruction)).toContain('JSON Schema');
});

it('a server whose package drops schemas gets them as a text, and answers in JSON', async () => {
  const compatible = wires.find(({ name }) => name.includes('compatible')) as Wire;
  const format = z.object({ city: z.string() });
  const { provider } = await answerOf(compatible, format, { city: 'Ghent' });
  const [{ response_format, messages } = {}] = provider.bodies;
  expect(response_format).toEqual({ type: 'json_object' });
  const [first] = messages as { role: string; content: string }[];
  expect(first).toMatchObject({
    role: 'system',
    content: expect.stringContaining('"city"') as string,
  });
});
