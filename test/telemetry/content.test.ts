import { AgentBuilder, AgentState, ErrorPolicy } from 'onward';
import { guardInput, guardOutput } from 'onward/capabilities';
import { telemetry } from 'onward/telemetry';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import { byKey, byLook } from '../setup/canary.ts';
import { named, observedHere } from '../setup/otlp.ts';

const { toolCall, final } = ScenarioStep;

const talking = (captureContent: 'none' | 'redacted', ...script: readonly ScenarioStep[]) =>
  AgentBuilder.base()
    .withSystemPrompt('SYSTEM prompt')
    .withDriver(DeterministicDriver.fromSteps(...script))
    .withTools(
      mockTool('look', { RESULT: 'seen', password: byKey, note: byLook }),
      mockTool('bad', () => {
        throw new Error(`FAILURE with ${byLook}`);
      }),
    )
    .withCapability(telemetry({ captureContent }));

const script = [
  toolCall('look', { QUERY: 'stock', password: byKey, note: byLook }),
  toolCall('bad'),
  final(`ANSWER ${byLook}`),
];
const words = ['SYSTEM', 'QUESTION', 'QUERY', 'RESULT', 'FAILURE', 'ANSWER'];
const secrets = [byKey, byLook];

it('keeps content out by default', async () => {
  const otlp = await observedHere();
  await talking('none', ...script)
    .withErrorPolicy(ErrorPolicy.production())
    .build()
    .run(`QUESTION ${byLook}`);
  await otlp.spans();
  for (const text of [...words, ...secrets]) expect(otlp.text()).not.toContain(text);
});

it('captures content redacted, in the form of the conventions', async () => {
  const otlp = await observedHere();
  await talking('redacted', ...script)
    .withErrorPolicy(ErrorPolicy.production())
    .build()
    .run(`QUESTION ${byLook}`);
  const spans = await otlp.spans();
  for (const text of words) expect(otlp.text()).toContain(text);
  for (const secret of secrets) expect(otlp.text()).not.toContain(secret);
  const [, , last] = named(spans, 'chat');
  const messages = JSON.parse(String(last?.attributes['gen_ai.input.messages'])) as {
    readonly role: string;
    readonly parts: readonly { readonly type: string }[];
  }[];
  expect(messages.map(({ role, parts }) => [role, parts[0]?.type])).toEqual([
    ['user', 'text'],
    ['assistant', 'tool_call'],
    ['tool', 'tool_call_response'],
    ['assistant', 'tool_call'],
    ['tool', 'tool_call_response'],
  ]);
  expect(JSON.parse(String(last?.attributes['gen_ai.output.messages']))).toMatchObject([
    { role: 'assistant', parts: [{ type: 'text' }], finish_reason: 'stop' },
  ]);
  const [look, bad] = named(spans, 'execute_tool');
  expect(String(look?.attributes['gen_ai.tool.call.arguments'])).toContain('"QUERY":"stock"');
  expect(String(look?.attributes['gen_ai.tool.call.result'])).toContain('RESULT');
  expect(bad?.message).toContain('FAILURE');
  const [run] = named(spans, 'invoke_agent');
  expect(String(run?.attributes['gen_ai.input.messages'])).toContain('QUESTION');
  expect(String(run?.attributes['gen_ai.output.messages'])).toContain('ANSWER');
});

it('what guards block is not captured, whether a guard runs beside the model or after it', async () => {
  const otlp = await observedHere();
  const blocks = (text: string) => ({
    name: 'no',
    check: ({ text: given }: { readonly text: string }) =>
      given.includes(text) ? { block: 'no' as const } : undefined,
  });
  const asked = await talking('redacted', final('ECHO-IN'))
    .withCapability(guardInput({ ...blocks('CANARY-IN'), parallel: true }))
    .build()
    .run('CANARY-IN');
  const answered = await talking('redacted', final('CANARY-OUT'))
    .withCapability(guardOutput(blocks('CANARY-OUT')))
    .build()
    .run('go');
  expect([asked.stopReason, answered.stopReason]).toEqual(['guard', 'guard']);
  expect(named(await otlp.spans(), 'chat')).toHaveLength(2);
  expect(otlp.text()).not.toContain('CANARY-IN');
  expect(otlp.text()).not.toContain('CANARY-OUT');
  expect(otlp.text()).not.toContain('ECHO-IN');
});

it('D92: what a span holds does not grow with the conversation', async () => {
  const otlp = await observedHere();
  let state = AgentState.empty();
  for (let i = 0; i < 100; i++)
    state = state
      .withUserMessage(`${i} ${'x'.repeat(20_000)}`)
      .withMessages({ role: 'assistant', content: 'ok' });
  await talking('redacted', final('done')).build().run(state.withUserMessage('LAST'));
  const [chat] = named(await otlp.spans(), 'chat');
  const text = String(chat?.attributes['gen_ai.input.messages']);
  expect(text.length).toBeLessThan(66_000);
  const messages = JSON.parse(text);
  expect(messages.at(-1).parts[0].content).toBe('LAST');
  expect(messages.at(-3).parts[0].content).toHaveLength(8_192);
});

it('refuses other values', () => {
  expect(() => telemetry({ captureContent: 'all' as never })).toThrow(
    /telemetry captureContent.*'none' or 'redacted'/,
  );
  expect(() => talking('none', final('x')).withCapability(telemetry()).build()).toThrow(
    /at most one with an observer/,
  );
});
