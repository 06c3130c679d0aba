import { modelCallLine } from '../../src/cli/trace-text.ts';
import { factsOf } from '../../src/console/trace/facts.ts';
import { readTrace } from '../../src/trace/index.ts';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { builder, asTool, ask } from '../setup/nested-agents.ts';
import { ann, isSound, places, runtimeOn, waiting } from '../setup/sessions.ts';

const { error, final, toolCall } = ScenarioStep;

const modelCall = {
  model: 'm-2025',
  requestId: 'req_1',
  rawFinishReason: 'tool_use',
  warnings: ['seed is ignored \u0000\u001b[31m \u202E'],
};
const usage = (input: number) => ({ usage: { input, output: 1, total: input + 1 } });

describe.each(places)('the record of a model call in a session (%s)', (_name, makePlace) => {
  it('comes from the store into the state, the trace, the command line and the console', async () => {
    const place = makePlace();
    const child = builder('helper', [final('42', usage(1_000))]).build();
    const agent = builder(
      'support',
      [
        toolCall('help', ask, '', { ...usage(10), ...modelCall }),
        error({ type: 'model', code: 'auth', message: 'no' }, { requestId: 'req_2' }),
      ],
      asTool(child),
    ).build();
    const writer = runtimeOn(place.open(), agent);
    await writer.create({ ...ann, id: 's' });
    await writer.send('s', 'go', waiting);
    await writer.close();

    // another process
    const runtime = runtimeOn(place.open(), agent);
    const { items } = await runtime.steps('s', ann);
    const [first, failed] = items;
    expect((await runtime.state('s', ann)).steps.at(-1)?.modelCall).toEqual({ requestId: 'req_2' });
    expect(first?.modelCall).toEqual(modelCall);
    expect(first?.modelUsage).toMatchObject({ input: 10, output: 1 });
    expect(failed).toMatchObject({ modelCall: { requestId: 'req_2' } });
    expect(failed?.errors[0]?.requestId).toBe('req_2');

    const { steps } = await readTrace(runtime, 's', ann);
    expect(steps[0]).toMatchObject({ modelCall, modelUsage: { input: 10 } });
    const line = steps[0] && modelCallLine(steps[0]);
    expect(line).toContain('answered by m-2025');
    expect(line).toContain('the provider ended it with tool_use');
    expect(line).toContain('model call alone: 10 in, 1 out');
    expect(line).toContain('request req_1');
    expect(line).toContain('warning: seed is ignored');
    expect(line).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(steps[1] && modelCallLine(steps[1])).toContain('request req_2');

    const facts = steps[0] ? factsOf(steps[0]) : [];
    expect(facts).toContainEqual({ text: 'answered by', code: 'm-2025' });
    expect(facts).toContainEqual({ text: 'request', code: 'req_1' });
    expect(facts.map(({ text }) => text).join('')).not.toMatch(/[\p{Cc}\u202e]/u);
    await isSound(runtime, 's');
  });
});
