import { AgentBuilder } from 'onward';
import { openai } from 'onward/drivers/openai';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { completion, delta, json, serve, sse, toolCall } from './setup/loopback.ts';

const args = { city: 'Zürich', unit: 'celsius' };
const text = JSON.stringify(args);
const pretty = JSON.stringify(args, null, 2);

/** Text that models write next to the structured call with the same arguments. */
const leaked: readonly (readonly [string, string])[] = [
  ['the arguments', text],
  ['the arguments with white space', `\n\n${pretty}\n`],
  ['the arguments in another order', '{"unit":"celsius","city":"Zürich"}'],
  ['the arguments in a code fence', `\`\`\`json\n${pretty}\n\`\`\``],
  ['the call', JSON.stringify({ name: 'lookup', arguments: args })],
  ['the call with its arguments as text', JSON.stringify({ name: 'lookup', arguments: text })],
  ['the call in Hermes format', JSON.stringify({ name: 'lookup', parameters: args })],
  ['the call in Anthropic format', JSON.stringify({ name: 'lookup', input: args })],
  [
    'the call in OpenAI format',
    JSON.stringify({ id: 'x', type: 'function', function: { name: 'lookup', arguments: text } }),
  ],
  ['a list of calls', JSON.stringify([{ name: 'lookup', arguments: args }])],
  [
    'a list under tool_calls',
    JSON.stringify({ tool_calls: [{ name: 'lookup', arguments: args }] }),
  ],
];

/** Text that users should see. */
const prose: readonly (readonly [string, string])[] = [
  ['a sentence', 'Let me look that up.'],
  ['a sentence with JSON in it', `I will call lookup with ${text} now.`],
  ['unrelated JSON', '{"answer":42}'],
  ['a list', '[1, 2, 3]'],
  ['code', '```ts\nconst a = { city: 1 };\n```'],
  ['an opening brace', '{ is how a block begins'],
];

/** Serves the content in two chunks followed by the call, or as one response. */
async function run(content: string, isStream: boolean, withCall = true) {
  const call = toolCall('lookup', args);
  const half = Math.ceil(content.length / 2);
  const server = await serve(
    isStream
      ? sse(
          delta(content.slice(0, half)),
          delta(content.slice(half)),
          ...(withCall ? [delta({ tool_calls: [{ index: 0, ...call }] })] : []),
          delta({}, 'stop'),
        )
      : json(completion({ content, ...(withCall ? { tool_calls: [call] } : null) })),
    isStream ? sse(delta('Done.', 'stop')) : json(completion('Done.')),
  );
  const lookup = mockTool('lookup');
  const agent = AgentBuilder.base()
    .withModel(openai('m', { baseURL: server.url }))
    .withTools(lookup)
    .build();
  let shown = '';
  if (isStream)
    agent.on('StreamChunk', (event) => (event.stepNumber === 1 ? (shown += event.content) : ''));
  const state = await agent.run('go');
  return { state, shown, lookup, step: state.steps.at(0) };
}

describe.each([
  ['not streamed', false],
  ['streamed', true],
])('D61: an answer, %s', (_way, isStream) => {
  it.each(leaked)('drops %s next to the call and never streams it', async (_what, content) => {
    const { state, shown, step, lookup } = await run(content, isStream);
    expect(shown).toBe('');
    expect(state.messages.at(1)?.text).toBe('');
    expect(state.messages.at(1)?.toolCalls).toHaveLength(1);
    expect(step?.notes).toContain('contentLeakDropped');
    expect(lookup.calls).toEqual([args]);
    expect(state.output).toBe('Done.');
  });

  it.each(prose)('keeps %s next to the call', async (_what, content) => {
    const { state, shown, step } = await run(content, isStream);
    expect(state.messages.at(1)?.text).toBe(content);
    expect(shown).toBe(isStream ? content : '');
    expect(step?.notes).not.toContain('contentLeakDropped');
  });

  it.each(leaked.slice(4))(
    'keeps and notes %s without a call, and never runs it',
    async (_what, content) => {
      const { state, shown, step, lookup } = await run(content, isStream, false);
      expect(state.output).toBe(content);
      expect(shown).toBe(isStream ? content : '');
      expect(step?.notes).toContain('looksLikeToolCall');
      expect(lookup.calls).toEqual([]);
    },
  );
});
