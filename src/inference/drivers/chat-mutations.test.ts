import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readChat } from '../../../test/setup/read-chat.ts';
import type { InferenceResponse } from '../inference-driver.ts';
import { readCompletion } from './chat-completion.ts';

/** The content of an answer, before a provider formats it. */
interface Meant {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: object }[];
  readonly usage: { readonly input: number; readonly output: number } | null;
}

/** The format of a provider. */
interface Manner {
  readonly reasoningField: 'reasoning_content' | 'reasoning';
  readonly hasIds: boolean;
  readonly repeatsName: boolean;
  readonly indexes: 'own' | 'none';
  readonly word: string;
  readonly hasDone: boolean;
  readonly lineBreak: '\n' | '\r\n';
  readonly space: '' | ' ';
  readonly indent: 0 | 1;
  readonly isReversed: boolean;
  readonly hasExtras: boolean;
  readonly hasComments: boolean;
  readonly usageAt: 'own chunk' | 'finish' | 'every';
  readonly pieces: number;
}

const word = fc.stringMatching(/^[a-z_]{1,12}$/);
const meant: fc.Arbitrary<Meant> = fc.record({
  reasoning: fc.string({ unit: 'grapheme', maxLength: 20 }),
  text: fc
    .string({ unit: 'grapheme', maxLength: 40 })
    .filter((text) => !text.trimStart().startsWith('<')),
  calls: fc.uniqueArray(
    fc.record({
      id: fc.uuid(),
      name: word,
      args: fc.dictionary(
        word,
        fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.boolean()),
      ),
    }),
    { maxLength: 4, selector: ({ id }) => id },
  ),
  usage: fc.option(fc.record({ input: fc.nat(10_000), output: fc.nat(10_000) })),
});
const manner: fc.Arbitrary<Manner> = fc.record({
  reasoningField: fc.constantFrom('reasoning_content', 'reasoning'),
  hasIds: fc.boolean(),
  repeatsName: fc.boolean(),
  indexes: fc.constantFrom('own', 'none'),
  word: fc.constantFrom('stop', 'tool_calls', 'end_turn', 'eos'),
  hasDone: fc.boolean(),
  lineBreak: fc.constantFrom('\n', '\r\n'),
  space: fc.constantFrom('', ' '),
  indent: fc.constantFrom(0, 1),
  isReversed: fc.boolean(),
  hasExtras: fc.boolean(),
  hasComments: fc.boolean(),
  usageAt: fc.constantFrom('own chunk', 'finish', 'every'),
  pieces: fc.integer({ min: 1, max: 9 }),
});

/** Splits a text into chunks of this many characters; an empty one is one chunk. */
const cut = (text: string, size: number): string[] =>
  text === '' ? [''] : (text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? []);

const turned = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([k, v]) => [k, turned(v)]),
  );
};

const written = (value: unknown, how: Manner): string =>
  JSON.stringify(how.isReversed ? turned(value) : value, null, how.indent).replaceAll('\n', '');

const usageOf = ({ input, output }: { readonly input: number; readonly output: number }) => ({
  usage: { prompt_tokens: input, completion_tokens: output },
});

function chunksOf({ reasoning, text, calls, usage }: Meant, how: Manner): object[] {
  const extras = how.hasExtras ? { id: 'c1', created: 1, logprobs: null, provider: 'p' } : {};
  const every = usage && how.usageAt === 'every' ? usageOf(usage) : null;
  const chunk = (
    delta: object,
    finish_reason: string | null = null,
    more: object | null = null,
  ) => ({
    ...extras,
    choices: [
      {
        ...(how.hasExtras ? { index: 0, logprobs: null } : null),
        delta: how.hasExtras ? { role: 'assistant', ...delta } : delta,
        ...(how.hasExtras || finish_reason !== null ? { finish_reason } : null),
      },
    ],
    ...every,
    ...more,
  });
  const pieces: object[] = cut(reasoning, how.pieces).map((piece) =>
    chunk({ [how.reasoningField]: piece }),
  );
  for (const piece of cut(text, how.pieces)) pieces.push(chunk({ content: piece }));
  for (const [i, { id, name, args }] of calls.entries())
    for (const [k, piece] of cut(JSON.stringify(args), how.pieces).entries())
      pieces.push(
        chunk({
          tool_calls: [
            {
              ...(how.indexes === 'own' ? { index: i } : null),
              // without index and id, a name has to show where a call starts
              ...(how.hasIds && k === 0 ? { id } : null),
              function: {
                ...(k === 0 || how.repeatsName ? { name } : null),
                arguments: piece,
              },
            },
          ],
        }),
      );
  pieces.push(chunk({}, how.word, usage && how.usageAt === 'finish' ? usageOf(usage) : null));
  if (usage && how.usageAt === 'own chunk') pieces.push({ choices: [], ...usageOf(usage) });
  return pieces;
}

function wireText(chunks: readonly object[], how: Manner): string {
  const lines = [...chunks.map((chunk) => written(chunk, how)), ...(how.hasDone ? ['[DONE]'] : [])];
  const comment = how.hasComments ? `: waiting${how.lineBreak.repeat(2)}` : '';
  return lines
    .map((line) => `${comment}data:${how.space}${line}${how.lineBreak.repeat(2)}`)
    .join('');
}

/** Whether calls can be distinguished: without id and index, any reader merges two equal calls in a row. */
const isTellable = ({ calls }: Meant, { hasIds, indexes }: Manner): boolean =>
  hasIds ||
  indexes === 'own' ||
  calls.every(({ name }, i) => i === 0 || name !== calls[i - 1]?.name);

function expectMeant(read: InferenceResponse | null, what: Meant, hasIds: boolean): void {
  expect(read?.content).toBe(what.text);
  expect(read?.reasoning ?? '').toBe(what.reasoning);
  expect(read?.toolCalls.map(({ id, name, args }) => ({ id, name, args }))).toEqual(
    what.calls.map(({ id, name, args }) => ({ id: hasIds ? id : null, name, args })),
  );
  expect(read?.finishReason).toBe(what.calls.length > 0 ? 'tool_calls' : 'stop');
  expect(read?.usage ?? null).toEqual(what.usage);
}

describe('any format of a provider', () => {
  it('gives the same streamed answer for any ids, key order, white space, framing, splits and optional fields', () => {
    fc.assert(
      fc.property(meant, manner, fc.array(fc.nat(), { maxLength: 30 }), (what, how, cuts) => {
        fc.pre(isTellable(what, how));
        const { response, failure, shown } = readChat(wireText(chunksOf(what, how), how), cuts);
        expect(failure).toBeNull();
        expectMeant(response, what, how.hasIds);
        expect(shown).toBe(what.text);
      }),
      { numRuns: 600 },
    );
  });

  it('gives the same whole answer', () => {
    fc.assert(
      fc.property(meant, manner, (what, how) => {
        const { reasoning, text, calls, usage } = what;
        const body = {
          choices: [
            {
              ...(how.hasExtras ? { index: 0 } : null),
              message: {
                ...(text === '' && how.hasExtras ? { content: null } : { content: text }),
                ...(reasoning === '' ? null : { [how.reasoningField]: reasoning }),
                ...(calls.length === 0
                  ? null
                  : {
                      tool_calls: calls.map(({ id, name, args }) => ({
                        ...(how.hasIds ? { id } : null),
                        function: { name, arguments: JSON.stringify(args, null, how.indent) },
                      })),
                    }),
              },
              finish_reason: how.word,
            },
          ],
          ...(usage ? usageOf(usage) : null),
        };
        expectMeant(readCompletion(JSON.parse(written(body, how)), 's'), what, how.hasIds);
      }),
      { numRuns: 200 },
    );
  });

  it('gives a complete answer, or a failure with a partial answer, for any interruption', () => {
    fc.assert(
      fc.property(meant, manner, fc.nat(), (what, how, at) => {
        const text = wireText(chunksOf(what, how), how);
        const truncateText = text.slice(0, at % (text.length + 1));
        const { response, failure } = readChat(truncateText);
        expect(response === null).toBe(failure !== null);
        if (response) return;
        expect(what.text.startsWith(failure?.partial.content ?? '')).toBe(true);
        expect(['timeout', 'validation']).toContain(failure?.report.type);
      }),
      { numRuns: 400 },
    );
  });

  it('never makes the reader throw or hang', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.constantFrom(
              'data: ',
              'data: {"choices":[{"delta":',
              '}]}',
              '\n',
              '\r\n',
              '[DONE]',
              ':',
              'event: error',
            ),
            fc.json(),
            fc.string(),
          ),
          { maxLength: 20 },
        ),
        (parts) => {
          const { response, failure } = readChat(parts.join(''));
          expect(response === null).toBe(failure !== null);
        },
      ),
      { numRuns: 400 },
    );
  });
});
