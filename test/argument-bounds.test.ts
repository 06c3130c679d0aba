import { AgentBuilder, AgentState, ErrorPolicy, type InferenceDriver, type Tool } from 'onward';
import { openai } from 'onward/drivers/openai';
import { DeterministicDriver, mockTool, ScenarioStep, type MockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { agentWith, approve } from './setup/approvals.ts';
import { ann, runtimeOn, sqlitePlace, waiting } from './setup/sessions.ts';
import { stored, takesAnotherTurn } from './setup/states.ts';

const { toolCalls, final } = ScenarioStep;

const nested = (levels: number): string =>
  '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1);
const lists = (levels: number): string =>
  levels === 1 ? '{}' : `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

/** A driver that calls `work` once with these arguments, raw or parsed, then answers. */
function sending(given: { argsRaw: string } | { args: unknown }): InferenceDriver {
  return {
    name: 'sending',
    infer: async ({ messages }) =>
      messages.last()?.isTool()
        ? { content: 'done', toolCalls: [], finishReason: 'stop', usage: null }
        : {
            content: '',
            toolCalls: [{ id: 'c', name: 'work', ...given }],
            finishReason: 'tool_calls',
            usage: null,
          },
  };
}

/** The same call over the Chat Completions API, with arguments as text or as an object. */
function wire(args: unknown): InferenceDriver {
  let asked = 0;
  const call = { id: 'c', type: 'function', function: { name: 'work', arguments: args } };
  const messages = [{ content: null, tool_calls: [call] }, { content: 'done' }];
  return openai('m', {
    api: 'chat',
    apiKey: 'k',
    fetch: async () => {
      const message = messages[asked++];
      const finish_reason = asked === 1 ? 'tool_calls' : 'stop';
      return Response.json({ choices: [{ message, finish_reason }] });
    },
  });
}

const agentOn = (driver: InferenceDriver, tool: Tool) =>
  AgentBuilder.base()
    .withName('support')
    .withDriver(driver)
    .withTools(tool)
    .withErrorPolicy(ErrorPolicy.ignoreToolErrors().withHandling('validation', 'ignore'))
    .build();

/** Returns "ran", or the tool message that the model got if the tool did not run. */
async function outcome(driver: InferenceDriver, tool: MockTool): Promise<string> {
  const state = await agentOn(driver, tool).run('go');
  expect(state).toMatchObject({ status: 'completed', output: 'done' });
  await takesAnotherTurn(state);
  const [result] = state.steps.at(0)!.results;
  if (result?.kind !== 'ok') {
    expect(tool.calls).toEqual([]);
    expect(result?.error).toMatchObject({ type: 'validation', code: 'bad_arguments' });
    expect(JSON.stringify(state).length).toBeLessThan(2_500_000);
  }
  return result?.kind === 'ok' ? 'ran' : state.messages.withRole('tool')[0]!.text;
}

describe('D90: depth and size limits of arguments', () => {
  it.each<[number, RegExp]>([
    [1, /^ran$/],
    [64, /^ran$/],
    [65, /deeper than 64 levels/],
    [500, /deeper than 64 levels/],
    [3_000, /deeper than 64 levels/],
    [100_000, /deeper than 64 levels/],
  ])('%i levels', async (levels, said) => {
    for (const text of [nested(levels), lists(levels)]) {
      const value = JSON.parse(text) as object;
      expect(await outcome(sending({ argsRaw: text }), mockTool('work'))).toMatch(said);
      expect(await outcome(sending({ args: value }), mockTool('work'))).toMatch(said);
      expect(await outcome(sending({ args: text }), mockTool('work'))).toMatch(said);
      if (levels > 5_000) continue; // JSON.stringify in this test cannot serialize more levels
      expect(await outcome(wire(text), mockTool('work'))).toMatch(said);
      expect(await outcome(wire(value), mockTool('work'))).toMatch(said);
    }
  });

  it.each<[string, string, RegExp]>([
    ['just under 1 MB', 'x'.repeat(999_990), /^ran$/],
    ['just over 1 MB', 'x'.repeat(1_000_000), /1000008 bytes, and at most 1000000/],
    ['multi-byte characters over 1 MB', '🙂'.repeat(250_000), /1000008 bytes/],
    ['20 MB', 'x'.repeat(20_000_000), /20000008 bytes/],
  ])('%s', async (_case, text, said) => {
    expect(await outcome(sending({ args: { x: text } }), mockTool('work'))).toMatch(said);
    const argsRaw = JSON.stringify({ x: text });
    expect(await outcome(sending({ argsRaw }), mockTool('work'))).toMatch(said);
  });

  it('apply to edited arguments', async () => {
    const work = mockTool('work', 'ok', { needsApproval: true });
    const agent = agentWith([toolCalls([{ name: 'work', id: 'c' }]), final('done')], work);
    const paused = await agent.run('go');
    const resume = (args: unknown) =>
      agent.resume(paused, { approvals: { c: { approve: true, args: args as never } } });
    const invalid = { code: 'invalid_approval' };
    await expect(resume(JSON.parse(nested(65)))).rejects.toMatchObject(invalid);
    await expect(resume(JSON.parse(nested(100_000)))).rejects.toMatchObject(invalid);
    await expect(resume({ x: 'x'.repeat(1_000_001) })).rejects.toMatchObject(invalid);
    expect((await resume(JSON.parse(nested(64)))).output).toBe('done');
  });

  it('a session completes after it rejects arguments that are too deep', async () => {
    const work = mockTool('work');
    const driver = sending({ argsRaw: nested(5_000) });
    const runtime = runtimeOn(sqlitePlace().open(), agentOn(driver, work));
    await runtime.create({ ...ann, id: 's' });
    const session = await runtime.send('s', 'go', waiting);
    expect(session).toMatchObject({ status: 'completed', output: 'done' });
    expect(work.calls).toEqual([]);
  });

  it('rejects arguments that are too deep in a call stored before this limit', async () => {
    const work = mockTool('work', 'ok', { needsApproval: true });
    const agent = agentWith(
      [toolCalls([{ name: 'work', id: 'c', args: { a: 'DEEP' } }]), final('done')],
      work,
    );
    const text = JSON.stringify(await agent.run('go')).replaceAll('"DEEP"', nested(500));
    const old = AgentState.from(JSON.parse(text) as never);
    const state = await agent.resume(old, { approvals: { c: approve } });
    expect(work.calls).toEqual([]);
    expect(state.steps.at(0)?.results[0]?.value).toMatch(/deeper than 64 levels/);
  });
});

describe('D90: tool calls per answer', () => {
  it.each([
    [128, 128],
    [129, 129],
    [200, 129],
    [20_000, 129],
  ])('%i calls: records %i, runs 128', async (given, recorded) => {
    const work = mockTool('work');
    const calls = Array.from({ length: given }, (_, n) => ({ name: 'work', args: { n } }));
    const driver = DeterministicDriver.fromSteps(toolCalls(calls), final('done'));
    const deltas = new Set<string>();
    const state = await agentOn(driver, work).run('go', {
      wiretap: (event) => {
        if (event.type === 'ToolCallDelta') deltas.add(event.toolCallId);
      },
    });
    expect(state).toMatchObject({ status: 'completed', output: 'done' });
    expect(work.calls).toHaveLength(128);
    const { results, errors } = state.steps.at(0)!;
    expect(results).toHaveLength(recorded);
    expect(deltas.size).toBe(recorded);
    if (recorded > 128) {
      expect(errors).toMatchObject([{ type: 'validation' }]);
      expect(state.messages.withRole('tool').at(-1)?.text).toMatch(
        `The answer has ${given} calls, and at most 128 are accepted`,
      );
    }
    await takesAnotherTurn(stored(state));
  });
});

describe('D90: depth of tool results', () => {
  it.each([65, 3_000, 100_000])('truncates %i levels and adds a note', async (levels) => {
    const returned = JSON.parse(nested(levels)) as object;
    const state = await agentOn(
      sending({ args: {} }),
      mockTool('work', () => returned),
    ).run('go');
    const [result] = state.steps.at(0)!.results;
    expect(result?.kind).toBe('ok');
    expect(JSON.stringify(result?.value)).toContain('[cut: nested deeper than 64 levels]');
    expect(state.steps.at(0)?.notes).toContain('resultCut:c');
    await takesAnotherTurn(stored(state));
  });

  it('keeps 64 levels', async () => {
    const returned = JSON.parse(nested(64)) as object;
    const state = await agentOn(
      sending({ args: {} }),
      mockTool('work', () => returned),
    ).run('go');
    expect(state.steps.at(0)?.results[0]?.value).toEqual(returned);
  });

  it('limits the output of a nested agent', async () => {
    const child = AgentBuilder.base()
      .withName('child')
      .withDriver(DeterministicDriver.fromResponses(nested(3_000), nested(64)))
      .withErrorPolicy(ErrorPolicy.retryAll(2))
      .withResponseFormat({ type: 'object' })
      .build();
    const tool = child.asTool({ name: 'work', description: 'Works.' });
    const state = await agentOn(sending({ args: { input: 'go' } }), tool).run('go');
    expect(state.steps.at(0)?.results[0]).toMatchObject({ kind: 'ok' });
    expect(state.output).toBe('done');
  });
});

describe('D90: __proto__ in arguments', () => {
  const text = '{"a":1,"__proto__":{"isAdmin":true},"b":[{"\\u005f_proto__":{"isAdmin":true}}]}';
  const schemas = {
    'JSON Schema': { type: 'object' },
    'zod loose object': z.looseObject({ a: z.number() }),
    'zod record': z.record(z.string(), z.unknown()),
    'zod any': z.object({ a: z.number(), b: z.any() }),
  } as const;

  it.each(Object.entries(schemas))('%s: is dropped', async (_name, parameters) => {
    const seen: Record<string, unknown>[] = [];
    const work = mockTool('work', (args: object) => Object.assign({}, args), { parameters });
    for (const driver of [
      sending({ argsRaw: text }),
      sending({ args: JSON.parse(text) }),
      wire(text),
      wire(JSON.parse(text)),
    ]) {
      const state = await agentOn(driver, work).run('go');
      seen.push(work.calls.at(-1) as Record<string, unknown>);
      expect(JSON.stringify(state)).not.toContain('__proto__');
      expect(state.steps.at(0)?.results[0]?.kind).toBe('ok');
    }
    expect(seen).toHaveLength(4);
    for (const args of seen) {
      expect(Object.hasOwn(args, '__proto__')).toBe(false);
      expect(args['isAdmin']).toBeUndefined();
      expect(Object.assign({}, args)['isAdmin']).toBeUndefined();
    }
  });

  it('is dropped from edits, results and metadata', async () => {
    const work = mockTool('work', () => JSON.parse(text) as object, { needsApproval: true });
    const agent = agentWith([toolCalls([{ name: 'work', id: 'c' }]), final('done')], work);
    const paused = (await agent.run('go')).withMetadata(JSON.parse(text) as never);
    const args = JSON.parse(text) as never;
    const state = await agent.resume(paused, { approvals: { c: { approve: true, args } } });
    expect(work.calls).toEqual([{ a: 1, b: [{}] }]);
    expect(JSON.stringify(state)).not.toContain('__proto__');
    expect(() => paused.withMetadata(JSON.parse(nested(100_000)) as never)).toThrow(/64 levels/);
  });
});

describe('tool names that the model invented', () => {
  it.each(['__proto__', 'constructor', 'a b/c', '🙂', '', '\ud800', 'x'.repeat(100_000)])(
    '%j is rejected, and the next request stays valid',
    async (name) => {
      const bodies: { messages: { tool_calls?: { function: { name: string } }[] }[] }[] = [];
      const call = { id: 'c', type: 'function', function: { name, arguments: '{}' } };
      const model = openai('m', {
        api: 'chat',
        apiKey: 'k',
        fetch: async (_url, init) => {
          bodies.push(JSON.parse((init as { body: string }).body) as never);
          const first = bodies.length === 1 && name !== '';
          const message = first ? { content: null, tool_calls: [call] } : { content: 'done' };
          const finish_reason = first ? 'tool_calls' : 'stop';
          return Response.json({ choices: [{ message, finish_reason }] });
        },
      });
      const state = await agentOn(model, mockTool('work')).run('go');
      expect(state.output).toBe('done');
      for (const { messages } of bodies)
        for (const { tool_calls = [] } of messages)
          for (const sent of tool_calls) expect(sent.function.name).toMatch(/^[\w-]{1,64}$/);
      expect(JSON.stringify(state).length).toBeLessThan(20_000);
    },
  );
});
