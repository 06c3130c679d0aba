import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AgentBuilder,
  ErrorPolicy,
  type Agent,
  type AgentState,
  type InferenceDriver,
  type Tool,
} from 'onward';
import type { InferenceChunk } from 'onward/drivers';
import {
  DeterministicDriver,
  mockTool,
  recordModel,
  replayModel,
  ScenarioStep,
} from 'onward/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { byKey, byLook, leakIn, ours, planted, redactor, words } from './setup/canary.ts';
import { removeFolder } from './setup/folders.ts';
import { refusal } from './setup/sessions.ts';

const { toolCall, toolCalls, final, stream, error } = ScenarioStep;

function cassetteFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'onward-cassette-'));
  onTestFinished(() => removeFolder(folder));
  return join(folder, 'model.jsonl');
}

const agentWith = (model: InferenceDriver, ...tools: readonly Tool[]): Agent =>
  AgentBuilder.base()
    .withName('shop')
    .withModel(model)
    .withTools(...tools)
    .withSystemPrompt('You sell lamps.')
    .withErrorPolicy(ErrorPolicy.retryAll().withBackoff({ initialMs: 1, maxMs: 1 }))
    .build();

const stock = (pieces = 7): Tool => mockTool('stock', { pieces });

/** What a run has come to, without ids and times. */
const shape = ({ messages, steps, status, usage, output }: AgentState) => ({
  status,
  usage,
  output,
  messages: [...messages].map(({ role, content, toolCalls: calls, metadata }) => ({
    role,
    content,
    calls: calls.map(({ id, name, args }) => ({ id, name, args })),
    metadata,
  })),
  steps: [...steps].map(({ type, attempt, finishReason, cost, errors, modelCall }) => ({
    type,
    attempt,
    finishReason,
    cost,
    errors: errors.map(({ code, message }) => ({ code, message })),
    model: modelCall?.model,
  })),
});

async function recorded(steps: readonly ScenarioStep[], ...tools: readonly Tool[]) {
  const file = cassetteFile();
  const model = recordModel(DeterministicDriver.fromSteps(...steps), file);
  const state = await agentWith(model, ...tools).run('How many lamps?');
  return { file, state };
}

describe('a cassette', () => {
  it('replays a run with its usage, cost, provider state and failed calls', async () => {
    const { file, state } = await recorded(
      [
        error({ code: 'overloaded', message: 'busy', retryable: true, status: 529 }),
        toolCalls([{ name: 'stock', args: { of: 'lamp' } }, { name: 'stock' }], 'One moment.', {
          usage: { input: 100, output: 20, total: 120, cachedInput: 60 },
          cost: 0.25,
          model: 'gpt-5-2025-08-07',
          requestId: 'req_1',
          metadata: { reasoningItems: [{ type: 'reasoning', encrypted: 'gAAAAABo' }] },
        }),
        final('Seven.', { reasoning: 'It says 7.' }),
      ],
      stock(),
    );
    const model = replayModel(file);
    const again = await agentWith(model, stock()).run('How many lamps?');
    expect(shape(again)).toEqual(shape(state));
    expect(again.usage.cachedInput).toBe(60);
    expect(JSON.stringify(again.messages)).toContain('gAAAAABo');
    expect(model.remaining).toBe(0);
    model.assertConsumed();
  });

  it('replays the chunks of streamed answers', async () => {
    const file = cassetteFile();
    const steps = [
      toolCall('stock', { of: 'lamp' }, 'One moment.'),
      stream(['We ', 'have ', 'seven.'], { reasoning: 'It says 7.' }),
    ];
    const read = async (model: InferenceDriver): Promise<string[]> => {
      const chunks: string[] = [];
      const agent = agentWith(model, stock());
      agent.wiretap((event) => {
        if (event.type === 'StreamChunk') chunks.push(event.content);
        if (event.type === 'ReasoningDelta') chunks.push(`(${event.content})`);
        if (event.type === 'ToolCallDelta') chunks.push(`{${event.argsDelta}}`);
      });
      await agent.run('How many lamps?');
      return chunks;
    };
    const live = await read(recordModel(DeterministicDriver.fromSteps(...steps), file));
    expect(live.length).toBeGreaterThan(4);
    expect(await read(replayModel(file))).toEqual(live);
  });

  it('answers by request, so that agents may run at the same time and in any order', async () => {
    const family = (model: InferenceDriver, slow: (name: string) => number): Agent => {
      const helper = (name: string): Tool =>
        AgentBuilder.base()
          .withName(name)
          .withModel(model)
          .withTools(mockTool('look', () => later(slow(name), `${name} looked`)))
          .build()
          .asTool({ name, description: `Asks ${name}.` });
      return agentWith(model, helper('a'), helper('b'), helper('c'));
    };
    const later = (ms: number, value: string): Promise<string> =>
      new Promise((resolve) => setTimeout(resolve, ms, value));
    // a model that answers by what it is asked
    const clever: InferenceDriver = {
      name: 'clever',
      async infer({ messages }) {
        const last = [...messages].at(-1)!;
        const said = last.text;
        const calls = ['a', 'b', 'c'].map((name) => ({
          id: `ask_${name}`,
          name,
          args: { input: `ask ${name}` },
        }));
        if (said === 'How many lamps?')
          return { content: '', toolCalls: calls, finishReason: 'tool_calls', usage: null };
        if (said.startsWith('ask '))
          return {
            content: '',
            toolCalls: [{ id: 'look', name: 'look', args: {} }],
            finishReason: 'tool_calls',
            usage: null,
          };
        return { content: `said: ${said}`, toolCalls: [], finishReason: 'stop', usage: null };
      },
    };
    const file = cassetteFile();
    const order: Record<string, number> = { a: 30, b: 1, c: 15 };
    const live = await family(recordModel(clever, file), (name) => order[name]!).run(
      'How many lamps?',
    );
    for (const reversed of [false, true]) {
      const model = replayModel(file);
      const slow = (name: string): number => (reversed ? 31 - order[name]! : 0);
      const again = await family(model, slow).run('How many lamps?');
      expect(shape(again).messages).toEqual(shape(live).messages);
      model.assertConsumed();
    }
  });

  it('fails with what differs when the agent asks for something else', async () => {
    const { file } = await recorded([toolCall('stock', { of: 'lamp' }), final('Seven.')], stock());
    const changed = await refusal(() =>
      agentWith(replayModel(file), stock(6)).run('How many lamps?'),
    );
    expect(changed.code).toBe('script_exhausted');
    expect(changed.message).toContain('no answer for this request, which is number 2');
    expect(changed.message).toContain('nearest recorded request is that of call 2');
    expect(changed.message).toMatch(/messages\[2\]\.content: recorded .*7.*, asked .*6/);

    const prompt = await refusal(() =>
      agentWith(replayModel(file), stock()).run('How many chairs?'),
    );
    expect(prompt.message).toMatch(
      /messages\[0\]\.content: recorded "How many lamps\?", asked "How many chairs\?"/,
    );
    const tools = await refusal(() =>
      agentWith(replayModel(file), stock(), mockTool('order', 1)).run('How many lamps?'),
    );
    expect(tools.message).toMatch(/tools\[1\]: recorded nothing, asked .*order/);
  });

  it('fails when calls are left, and names them', async () => {
    const { file } = await recorded(
      [toolCall('stock'), toolCall('stock'), final('Seven.')],
      stock(),
    );
    const model = replayModel(file);
    const agent = AgentBuilder.base()
      .withName('shop')
      .withModel(model)
      .withTools(stock())
      .withSystemPrompt('You sell lamps.')
      .withMaxSteps(1)
      .build();
    await agent.run('How many lamps?');
    expect(model.remaining).toBe(2);
    expect(() => model.assertConsumed()).toThrow(
      /2 calls of the cassette .* were not asked for: 2, 3/,
    );
  });

  it('gives the answers to equal requests in their order, and then no more', async () => {
    const { file } = await recorded([
      error({ code: 'overloaded', message: 'busy', retryable: true }),
      final('Seven.'),
    ]);
    const model = replayModel(file);
    const agent = agentWith(model);
    expect((await agent.run('How many lamps?')).output).toBe('Seven.');
    expect((await refusal(() => agent.run('How many lamps?'))).message).toContain(
      'All 2 calls were asked for',
    );
  });

  it('waits for the abort where the run had aborted the call', async () => {
    const file = cassetteFile();
    const run = async (model: InferenceDriver): Promise<AgentState> => {
      const controller = new AbortController();
      const agent = agentWith(model);
      agent.wiretap(({ type }) => {
        if (type === 'AgentStepStarted') setTimeout(() => controller.abort(), 5);
      });
      return agent.run('How many lamps?', { signal: controller.signal });
    };
    const live = await run(
      recordModel(DeterministicDriver.fromSteps(final('late', { hangs: true })), file),
    );
    const model = replayModel(file);
    const again = await run(model);
    expect(again.stopReason).toBe(live.stopReason);
    model.assertConsumed();
  });

  it('leaves out what may differ', async () => {
    const file = cassetteFile();
    const agent = (model: InferenceDriver, now: string): Agent =>
      AgentBuilder.base()
        .withName('shop')
        .withModel(model)
        .withSystemPrompt(`It is ${now}.`)
        .build();
    const model = recordModel(DeterministicDriver.fromSteps(final('Hi.')), file, {
      ignore: [/\d{4}-\d\d-\d\d/],
    });
    await agent(model, '2026-01-01').run('Hello');
    const again = await agent(replayModel(file), '2027-12-31').run('Hello');
    expect(again.output).toBe('Hi.');
    expect((await refusal(() => agent(replayModel(file), 'noon').run('Hello'))).message).toMatch(
      /system: recorded "It is \[ignored\]\.", asked "It is noon\."/,
    );
  });

  it('stays small when a conversation is long', async () => {
    const calls = 120;
    const size = async (count: number): Promise<number> => {
      const steps = Array.from({ length: count }, (_, i) => toolCall('stock', { of: `lamp ${i}` }));
      const file = cassetteFile();
      const model = recordModel(DeterministicDriver.fromSteps(...steps, final('Seven.')), file);
      await AgentBuilder.base()
        .withModel(model)
        .withTools(stock())
        .withMaxSteps(count + 1)
        .build()
        .run('How many lamps?');
      return readFileSync(file).length;
    };
    expect(await size(calls)).toBeLessThan(2.3 * (await size(calls / 2)));
  });

  it('says what is wrong with a file', async () => {
    expect(() => replayModel('/nowhere/model.jsonl')).toThrow(/There is no cassette .*recordModel/);
    const { file } = await recorded([final('Seven.')]);
    const lines = readFileSync(file, 'utf8').split('\n');
    for (const [text, line] of [
      ['', 1],
      ['{}', 1],
      [[lines[0]!.replace('"version":1', '"version":2'), ...lines.slice(1)].join('\n'), 1],
      [`${lines[0]}\nnonsense`, 2],
      [`${lines[0]}\n{"call":1}`, 2],
    ] as const) {
      writeFileSync(file, text);
      expect(() => replayModel(file)).toThrow(`Line ${line} of the cassette`);
    }
  });
});

describe('secrets', () => {
  it('never enter a cassette, also not in pieces', async () => {
    const file = cassetteFile();
    const pieces = [...`key ${byLook} and ${ours} end`];
    const calls: InferenceChunk[] = [...JSON.stringify(planted)].map((argsDelta, i) => ({
      type: 'tool_call',
      index: 0,
      ...(i === 0 && { id: 'c1', name: 'vault' }),
      argsDelta,
    }));
    let asked = 0;
    const leaky: InferenceDriver = {
      name: 'leaky',
      infer: () => Promise.reject(new Error('not used')),
      async *stream() {
        asked += 1;
        if (asked === 1) {
          for (const text of pieces) yield { type: 'reasoning', text };
          for (const text of pieces) yield { type: 'content', text };
          yield* calls;
          yield {
            type: 'done',
            response: {
              content: pieces.join(''),
              reasoning: pieces.join(''),
              toolCalls: [{ id: 'c1', name: 'vault', argsRaw: JSON.stringify(planted) }],
              finishReason: 'tool_calls',
              usage: { input: 1, output: 1, total: 2 },
              warnings: [words],
              metadata: planted,
            },
          };
          return;
        }
        if (asked === 2) {
          for (const text of `failed ${byLook.slice(0, -3)}`) yield { type: 'content', text };
          throw new Error(words);
        }
        yield {
          type: 'done',
          response: { content: `ok ${ours}`, toolCalls: [], finishReason: 'stop', usage: null },
        };
      },
    };
    const run = (model: InferenceDriver): Promise<AgentState> => {
      const agent = agentWith(model, mockTool('vault', planted));
      agent.wiretap(() => {});
      return agent.run(`use ${byLook}, ${JSON.stringify(planted)}`);
    };
    const live = await run(recordModel(leaky, file, { redactor }));
    expect(leakIn(JSON.stringify(live.messages))).not.toBeNull();
    const text = readFileSync(file, 'utf8');
    expect(leakIn(text)).toBeNull();
    // joined again, the pieces of chunks hold nothing either
    const joined = text.replaceAll(
      /"\},\{"type":"[a-z_]+","(?:index":\d+,"argsDelta|text)":"/g,
      '',
    );
    expect(leakIn(joined)).toBeNull();
    expect(joined).not.toContain('sk-live');
    expect(text).toContain('[redacted]');
    expect(leakIn(byKey)).not.toBeNull();
    const model = replayModel(file, { redactor });
    const again = await run(model);
    expect(again.status).toBe('completed');
    expect(again.steps.length).toBe(live.steps.length);
    model.assertConsumed();
  });
});
