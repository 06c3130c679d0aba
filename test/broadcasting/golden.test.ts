import { readFileSync, writeFileSync } from 'node:fs';
import { defineTool, ErrorPolicy, Message } from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { envelopeTypes } from '../../src/ui/read-envelope.ts';
import { asked, isUnbroken, Live, presets, scripted, steady } from './live-run.ts';

const { toolCall, toolCalls, final, stream, error } = ScenarioStep;
const retry = ErrorPolicy.retryAll().withBackoff({ initialMs: 1, maxMs: 1, jitter: 0 });

/** Runs that together send every envelope type. */
const scenarios: Record<string, () => Promise<Live>> = {
  async completed() {
    const live = new Live();
    const steps = [toolCall('look', { city: 'Paris' }, 'Let me look.'), stream(['Sun', 'ny.'])];
    const agent = scripted(steps, [mockTool('look', { sky: 'clear', degrees: 21 })]).build();
    await live.run(agent, asked('How is the weather?'));
    return live;
  },

  async reasoned() {
    const live = new Live();
    const steps = [
      toolCall('look', {}, '', { reasoning: 'I should look first.' }),
      final('Sunny.', { reasoning: 'The sky is clear.' }),
    ];
    const agent = scripted(steps, [mockTool('look', { sky: 'clear' })]).build();
    await live.run(agent, asked('How is the weather?'));
    return live;
  },

  async stopped() {
    const live = new Live();
    const steps = [1, 2].map((n) => toolCall('look', { n }));
    const agent = scripted(steps, [mockTool('look', 'nothing')])
      .withMaxSteps(2)
      .build();
    await live.run(agent, asked());
    return live;
  },

  async failed() {
    const live = new Live();
    const agent = scripted([error({ type: 'model', code: 'http_500', message: 'overloaded' })]);
    await live.run(agent.build(), asked());
    return live;
  },

  async 'tool-error'() {
    const live = new Live();
    const tools = [mockTool('look', new Error('offline'))];
    const agent = scripted([toolCall('look'), toolCall('lok'), final('I cannot look.')], tools);
    await live.run(agent.withErrorPolicy(retry).build(), asked());
    return live;
  },

  async retried() {
    const live = new Live();
    const clock = fakeClock();
    const steps = [error('cut off', { chunks: ['Half a', ' text'] }), stream(['A whole', ' one'])];
    const agent = scripted(steps, [], clock).withErrorPolicy(retry).build();
    const running = live.run(agent, asked());
    await clock.advance(10);
    await running;
    return live;
  },

  async compacted() {
    const live = new Live();
    const builder = scripted([final('Hello Ada.')]).withCompaction({
      atTokens: 250,
      keepTurns: 1,
      model: DeterministicDriver.fromResponses('Ada asked about lamps.'),
    });
    const before = asked('Lamps? '.repeat(200)).withMessages(Message.assistant('We have lamps.'));
    await live.run(builder.build(), before.withUserMessage('Hello'));
    return live;
  },

  async fallback() {
    const live = new Live();
    const overloaded = { type: 'rate_limit', code: 'overloaded', message: 'Overloaded' } as const;
    const next = DeterministicDriver.create([stream(['A whole', ' one'])], { name: 'next' });
    const agent = scripted([error(overloaded, { chunks: ['Half a'] })])
      .withFallback(next)
      .build();
    await live.run(agent, asked());
    return live;
  },

  async approved() {
    const live = new Live();
    const calls = [
      { name: 'pay', args: { to: 'Ann' } },
      { name: 'pay', args: { to: 'Bob' } },
      { name: 'look' },
    ];
    const tools = [mockTool('pay', 'paid', { needsApproval: true }), mockTool('look')];
    const agent = scripted([toolCalls(calls), final('Paid.')], tools).build();
    const first = await live.run(agent, asked('Pay them'));
    const second = await live.resume(agent, first, { approvals: { call_1: { approve: true } } });
    await live.resume(agent, second, { approvals: { call_2: { deny: 'not Bob' } } });
    return live;
  },

  async progressed() {
    const live = new Live();
    const scan = defineTool({
      name: 'scan',
      description: 'Scans.',
      execute: (_args, { progress }) => {
        progress({ message: 'Reading', progress: 1, total: 2 });
        return 'done';
      },
    });
    await live.run(scripted([toolCall('scan'), final('Done.')], [scan]).build(), asked('Scan'));
    return live;
  },

  async answered() {
    const live = new Live();
    const schema = { type: 'object', properties: { sure: { type: 'boolean' } } } as const;
    const remove = defineTool({
      name: 'remove',
      description: 'Removes.',
      execute: (_args, { input, requestInput }) =>
        input
          ? 'removed'
          : requestInput({
              sure: { message: 'Sure?', schema },
              login: { message: 'Log in.', url: 'https://shop.example/login' },
            }),
    });
    const agent = scripted([toolCall('remove'), final('Removed.')], [remove]).build();
    const first = await live.run(agent, asked('Remove it'));
    const sure = { action: 'accept', content: { sure: true } } as const;
    const second = await live.resume(agent, first, { inputs: { 'call_1/sure': sure } });
    await live.resume(agent, second, { inputs: { 'call_1/login': { action: 'decline' } } });
    return live;
  },

  async 'paused-and-granted'() {
    const live = new Live();
    const wait = mockTool('wait', (_args: unknown, c: { requestPause(reason: string): void }) =>
      c.requestPause('lunch'),
    );
    const steps = [toolCall('wait'), toolCall('wait'), final('Done.')];
    const agent = scripted(steps, [wait]).withMaxSteps(2).build();
    const paused = await live.run(agent, asked());
    const stopped = await live.resume(agent, paused);
    await live.resume(agent, stopped, { grant: { steps: 1 } });
    return live;
  },

  async cancelled() {
    const live = new Live();
    const stop = new AbortController();
    const look = mockTool('look', () => stop.abort('the user left'));
    const agent = scripted([toolCall('look')], [look]).build();
    await live.run(agent, asked(), { signal: stop.signal });
    return live;
  },

  async nested() {
    const live = new Live();
    const clock = fakeClock();
    const expert = scripted(
      [toolCall('look', { q: 1 }), stream(['It is ', '42.'])],
      [mockTool('look', 42)],
      clock,
    )
      .withName('expert')
      .build()
      .asTool({ name: 'ask', description: 'Asks an expert.' });
    const agent = scripted(
      [toolCall('ask', { input: 'What is it?' }), final('42.')],
      [expert],
      clock,
    );
    await live.run(agent.build(), asked());
    return live;
  },

  async large() {
    const live = new Live({ frameBytes: 2_600 });
    const tools = [
      mockTool('read', { text: 'result '.repeat(400) }),
      mockTool('write', 'ok', { needsApproval: true }),
      ...Array.from({ length: 60 }, (_t, i) => mockTool(`tool_with_a_rather_long_name_${i}`)),
    ];
    const steps = [
      toolCall('read', { note: 'note '.repeat(500) }, 'thinking '.repeat(300)),
      toolCall('write', { text: 'argument '.repeat(300) }),
      final('answer '.repeat(400)),
    ];
    const agent = scripted(steps, tools).build();
    const paused = await live.run(agent, asked('question '.repeat(300)));
    await live.resume(agent, paused, { approvals: { call_2: { approve: true } } });
    return live;
  },
};

describe.each(Object.entries(scenarios))('%s', (name, play) => {
  it('sends exactly the envelopes of its golden file, in every preset', async () => {
    const live = await play();
    const seen = steady(live.all);
    const file = new URL(`golden/${name}.json`, import.meta.url);
    if (process.env['GOLDEN'] === 'write') writeFileSync(file, JSON.stringify(seen, null, 2));
    expect(seen).toEqual(JSON.parse(readFileSync(file, 'utf8')));
    for (const preset of presets) isUnbroken(live.of(preset));
  });
});

it('the golden files contain every envelope type', async () => {
  const seen = new Set<string>();
  for (const play of Object.values(scenarios))
    for (const { type } of (await play()).of('debug')) seen.add(type);
  // the server makes agent.worker itself, for one reader
  expect(seen).toEqual(new Set(envelopeTypes.filter((type) => type !== 'agent.worker')));
});
