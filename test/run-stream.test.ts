import {
  createAgent,
  defineTool,
  ErrorPolicy,
  type AgentEvent,
  type InferenceDriver,
} from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';

const { toolCall, final } = ScenarioStep;

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of list) found.push(one);
  return found;
}
const clock = defineTool({
  name: 'clock',
  description: 'Returns the time.',
  execute: () => ({ at: new Date(0) }),
});
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: z.object({ euros: z.number() }),
  needsApproval: true,
  execute: ({ euros }) => `${euros} paid`,
});
const Report = z.object({
  title: z.string(),
  rows: z.array(z.number()),
  grade: z.enum(['good', 'bad']),
});
const answer = '{"title":"A long title of a report","rows":[1,20,300],"grade":"good"}';

/** A driver that streams these texts letter by letter. */
const letters = (...texts: readonly string[]): InferenceDriver => {
  const usage = { input: 1, output: 1, total: 2, cachedInput: 0, reasoning: 0 };
  let turn = 0;
  return {
    name: 'letters',
    infer: () => Promise.reject(new Error('streams only')),
    async *stream() {
      const text = texts[turn++] ?? '';
      for (const letter of text) yield { type: 'content', text: letter };
      const response = { content: text, toolCalls: [], usage, finishReason: 'stop' as const };
      yield { type: 'done', response };
    },
  };
};

describe('consumers of a stream', () => {
  it('are independent: each gets everything, whenever it starts', async () => {
    const driver = DeterministicDriver.fromSteps(toolCall('clock'), final('It is nine.'));
    const run = createAgent({ driver, tools: [clock] }).stream('go');
    const [text, calls, events] = await Promise.all([
      all(run.textStream),
      all(run.toolCalls),
      all(run),
    ]);
    expect(text.join('')).toBe('It is nine.');
    expect(calls).toEqual([
      {
        ok: true,
        tool: 'clock',
        callId: 'call_1',
        args: {},
        result: { at: '1970-01-01T00:00:00.000Z' },
      },
    ]);
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(['AgentStarted', 'AgentFinished']);
    // also after the end
    expect(await all(run.textStream)).toEqual(text);
    expect(await all(run)).toEqual(events);
    expect((await run.state).output).toBe('It is nine.');
  });

  it('do not stop the run when one leaves and another still reads', async () => {
    const driver = DeterministicDriver.fromSteps(toolCall('clock'), final('done'));
    const run = createAgent({ driver, tools: [clock] }).stream('go');
    const reading = all(run);
    for await (const call of run.toolCalls) {
      expect(call.tool).toBe('clock');
      break;
    }
    await reading;
    expect((await run.state).status).toBe('completed');
  });

  it.each(['textStream', 'partialOutputStream', 'toolCalls'] as const)(
    'abort the run when the last one leaves %s, and the state resolves',
    async (reader) => {
      const driver = DeterministicDriver.fromSteps(toolCall('clock', {}, 'Wait.'), final('done'));
      const run = createAgent({ driver, tools: [clock] }).stream('go');
      for await (const _one of run[reader]) break;
      expect(await run.state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    },
  );

  it('text and calls contain only those of the agent itself', async () => {
    const inner = createAgent({
      name: 'inner',
      driver: DeterministicDriver.fromSteps(toolCall('clock'), final('inner text')),
      tools: [clock],
    });
    const outer = createAgent({
      driver: DeterministicDriver.fromSteps(toolCall('ask', { input: 'q' }), final('outer text')),
      tools: [inner.asTool({ name: 'ask', description: 'Asks.' })],
    });
    const run = outer.stream('go');
    expect((await all(run.textStream)).join('')).toBe('outer text');
    expect(await all(run.toolCalls)).toMatchObject([
      { ok: true, tool: 'ask', args: { input: 'q' }, result: 'inner text' },
    ]);
  });

  it('get the text in one piece if the driver does not stream', async () => {
    const { infer, name } = DeterministicDriver.fromResponses('whole');
    const driver: InferenceDriver = { name, infer };
    expect(await all(createAgent({ driver }).stream('go').textStream)).toEqual(['whole']);
  });
});

describe('resuming as a stream', () => {
  it('accepts approvals', async () => {
    const driver = DeterministicDriver.fromSteps(toolCall('pay', { euros: 90 }), final('Paid.'));
    const agent = createAgent({ driver, tools: [pay] });
    const paused = await agent.stream('go').state;
    expect(paused.pause?.kind).toBe('approval');
    const run = agent.stream({
      resume: JSON.parse(JSON.stringify(paused)) as never,
      approvals: { call_1: { approve: true, args: { euros: 80 } } },
      by: 'ada',
    });
    expect((await all(run.textStream)).join('')).toBe('Paid.');
    expect(await all(run.toolCalls)).toMatchObject([
      { ok: true, args: { euros: 80 }, result: '80 paid' },
    ]);
    expect((await run.state).steps.at(0)?.results[0]?.approval?.by).toBe('ada');
  });

  it('knows the arguments of a nested agent that started before the pause', async () => {
    const inner = createAgent({
      name: 'inner',
      driver: DeterministicDriver.fromSteps(toolCall('pay', { euros: 9 }), final('inner done')),
      tools: [pay],
    });
    const outer = createAgent({
      driver: DeterministicDriver.fromSteps(toolCall('ask', { input: 'q' }), final('done')),
      tools: [inner.asTool({ name: 'ask', description: 'Asks.' })],
    });
    const paused = await outer.run('go');
    const callId = paused.pendingApprovals[0]?.callId ?? '';
    const run = outer.stream({ resume: paused, approvals: { [callId]: { approve: true } } });
    expect(await all(run.toolCalls)).toMatchObject([
      { ok: true, tool: 'ask', args: { input: 'q' }, result: 'inner done' },
    ]);
  });

  it('rejects like resume()', async () => {
    const agent = createAgent({ driver: DeterministicDriver.fromResponses('hi') });
    const ended = await agent.run('go');
    const run = agent.stream({ resume: ended });
    await expect(run.state).rejects.toMatchObject({ code: 'not_resumable' });
    await expect(all(run)).rejects.toMatchObject({ code: 'not_resumable' });
  });
});

describe('toolCalls', () => {
  it('marks calls of unknown tools and truncated results as not ok', async () => {
    const long = defineTool({
      name: 'long',
      description: 'Says much.',
      maxResultChars: 10,
      execute: () => 'x'.repeat(50),
    });
    const driver = DeterministicDriver.fromSteps(
      toolCall('long'),
      toolCall('nope', { a: 1 }),
      final('done'),
    );
    const events: AgentEvent[] = [];
    const run = createAgent({
      driver,
      tools: [long],
      errorPolicy: ErrorPolicy.retryAll(3),
    }).stream('go', { wiretap: (event) => void events.push(event) });
    const calls = await all(run.toolCalls);
    expect(calls).toMatchObject([
      {
        ok: false,
        tool: 'long',
        args: {},
        error: expect.stringContaining('[cut: 10 of 50') as string,
      },
      {
        ok: false,
        tool: 'nope',
        args: { a: 1 },
        error: 'There is no tool "nope". Available: long.',
      },
    ]);
    const done = events.filter((event) => event.type === 'ToolCallCompleted');
    expect(done.map(({ truncated }) => truncated)).toEqual([true, undefined]);
  });
});

describe('partialOutputStream', () => {
  it('grows with the answer, also if the agent has tools', async () => {
    const agent = createAgent({ driver: letters(answer), tools: [clock], responseFormat: Report });
    const run = agent.stream('go');
    const partials = await all(run.partialOutputStream);
    expect(partials.length).toBeGreaterThan(20);
    expect(partials[0]).toEqual({});
    expect(partials).toContainEqual({ title: 'A long title of a report', rows: [1, 20, 3] });
    expect(partials.at(-1)).toEqual(JSON.parse(answer));
    // an enum value is complete or missing
    for (const { grade } of partials) expect([undefined, 'good']).toContain(grade);
    expect((await run.state).output).toEqual(JSON.parse(answer));
  });

  it('skips invalid values and continues with the retry', async () => {
    const driver = letters('{"title":7,"rows":[],"grade":"good"}', answer);
    const agent = createAgent({
      driver,
      responseFormat: Report,
      errorPolicy: ErrorPolicy.retryAll(3),
    });
    const partials = await all(agent.stream('go').partialOutputStream);
    for (const { title } of partials) expect(typeof title).not.toBe('number');
    expect(partials.at(-1)).toEqual(JSON.parse(answer));
  });

  it('is the text so far if there is no response format', async () => {
    const run = createAgent({ driver: letters('hello') }).stream('go');
    expect(await all(run.partialOutputStream)).toEqual(['h', 'he', 'hel', 'hell', 'hello']);
  });

  it('reads a long answer in linear time', async () => {
    const title = 'x'.repeat(200_000);
    const long = JSON.stringify({ title, rows: [], grade: 'good' });
    const run = createAgent({ driver: letters(long), responseFormat: Report }).stream('go');
    const partials = await all(run.partialOutputStream);
    expect(partials.length).toBeLessThan(600);
    expect(partials.at(-1)?.title).toBe(title);
  });
});

it('leaked tool arguments that were already streamed are discarded', async () => {
  const args = { euros: 5 };
  const leak = JSON.stringify(args);
  const usage = { input: 1, output: 1, total: 2, cachedInput: 0, reasoning: 0 };
  const driver: InferenceDriver = {
    name: 'leaking',
    infer: () => Promise.reject(new Error('streams only')),
    async *stream() {
      yield { type: 'content', text: leak };
      yield {
        type: 'done',
        response: {
          content: leak,
          toolCalls: [{ id: 'c1', name: 'pay', args }],
          usage,
          finishReason: 'tool_calls',
        },
      };
    },
  };
  const run = createAgent({ driver, tools: [pay], responseFormat: Report }).stream('go');
  const events = await all(run);
  expect(events.filter(({ type }) => type === 'StreamDiscarded')).toHaveLength(1);
  expect((await run.state).messages.last()?.text).toBe('');
});
