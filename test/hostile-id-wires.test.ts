import { AgentBuilder, type AgentState } from 'onward';
import { openai } from 'onward/drivers/openai';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { isRecord } from '../src/json.ts';
import { hostileIds } from './setup/hostile-ids.ts';
import { chat } from './setup/openai-wires.ts';
import { wires, type Wire } from './setup/provider-wires.ts';
import { ScriptedProvider } from './setup/scripted-provider.ts';

const apiKey = 'none';
const strict: readonly Wire[] = [
  {
    name: 'OpenAI itself, chat',
    ...chat,
    model: (fetch) => openai('gpt-5', { apiKey, fetch, api: 'chat' }),
  },
  {
    name: 'Mistral',
    ...chat,
    model: (fetch) => openai('large', { apiKey, fetch, baseURL: 'https://api.mistral.ai/v1' }),
  },
];
const targets = [...wires, ...strict];

/** What the provider of a wire accepts as the id of a call, as it documents it or says in its error. */
const accepted = (name: string): RegExp => {
  if (name === 'Mistral') return /^[A-Za-z0-9]{9}$/;
  if (name.includes('Anthropic')) return /^[\w-]{1,64}$/;
  if (name.includes('Responses')) return /^.{1,64}$/su;
  return name.endsWith('SDK with OpenAI chat') || name.includes('itself')
    ? /^.{1,40}$/su
    : /^[^\p{Cc}]*$/u;
};

/** Ids of calls and results in a request. */
function* idsIn(value: unknown): Generator<string> {
  if (Array.isArray(value)) for (const item of value) yield* idsIn(item);
  if (!isRecord(value)) return;
  for (const key of ['tool_call_id', 'call_id', 'tool_use_id'])
    if (typeof value[key] === 'string') yield value[key];
  if ((value['type'] === 'tool_use' || value['type'] === 'function') && 'id' in value)
    yield String(value['id']);
  for (const inner of Object.values(value)) yield* idsIn(inner);
}

const ids = [...hostileIds, 'same', 'same', 'functions.pay:0'];

async function answered(wire: Wire): Promise<{ state: AgentState; provider: ScriptedProvider }> {
  const calls = ids.map((id) => ({ name: 'pay', id }));
  const provider = new ScriptedProvider(wire, [{ text: 'Paying.', calls }, { text: 'Paid.' }]);
  const pay = mockTool('pay', 'ok');
  const agent = AgentBuilder.base().withModel(provider.model).withTools(pay).build();
  const state = await agent.run('go');
  expect(pay.calls).toHaveLength(ids.length);
  return { state, provider };
}

describe.each(wires.map((wire) => [wire.name, wire] as const))('D90: ids of %s', (_name, wire) => {
  it('are recorded as ids of ours, and go back as the wire accepts them', async () => {
    const { state, provider } = await answered(wire);
    expect(state.output).toBe('Paid.');
    expect(provider.problems).toEqual([]);
    const recorded = state.messages
      .toJSON()
      .flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));
    expect(recorded.filter((id) => !/^[A-Za-z0-9_-]{1,64}$/.test(id))).toEqual([]);
    expect(new Set(recorded).size).toBe(ids.length);
  });

  it.each(targets.map((target) => [target.name, target] as const))(
    'are accepted by %s, which continues the conversation',
    async (name, target) => {
      const { state } = await answered(wire);
      const other = new ScriptedProvider(target, []);
      const next = await AgentBuilder.base()
        .withModel(other.model)
        .withTools(mockTool('pay'))
        .build()
        .run(state.withUserMessage('more'));
      expect(next.output).toBe('next');
      expect(other.problems).toEqual([]);
      const sent = [...idsIn(other.bodies[0])];
      expect(sent.filter((id) => !accepted(name).test(id))).toEqual([]);
      if (!name.includes('Google')) expect(new Set(sent).size).toBe(ids.length);
    },
  );
});
