import { AgentState } from 'onward';
import { telemetry } from 'onward/telemetry';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import { longAgent, longModel } from '../setup/long-conversations.ts';
import { named, observedHere, treeOf } from '../setup/otlp.ts';
import { expectSpansOf } from '../setup/span-counts.ts';

it('a compaction is an event of its run, with the sizes before and after', async () => {
  const otlp = await observedHere();
  const agent = longAgent(longModel())
    .withCompaction({ atTokens: 3_000 })
    .withCapability(telemetry())
    .build();
  let state = AgentState.empty();
  for (let i = 0; i < 6; i++) state = await agent.run(state.withUserMessage(`Question ${i}`));
  expect(state.compactions.length).toBeGreaterThan(0);
  const events = named(await otlp.spans(), 'invoke_agent')
    .flatMap((span) => span.events)
    .filter(({ name }) => name === 'onward.compaction');
  expect(events.map(({ attributes }) => attributes)).toEqual(
    state.compactions.map(({ kind, reason, tokensBefore, tokensAfter }) => ({
      'onward.step': expect.any(Number),
      'onward.compaction.kind': kind,
      'onward.compaction.reason': reason,
      'onward.compaction.tokens_before': tokensBefore,
      'onward.compaction.tokens_after': tokensAfter,
    })),
  );
});

it('a summary has a span of its own, with its model, its usage and no content', async () => {
  const otlp = await observedHere();
  const small = DeterministicDriver.create(
    [
      ScenarioStep.error({ code: 'overloaded', message: 'CANARY busy', retryable: true }),
      ...Array.from({ length: 9 }, () =>
        ScenarioStep.final(
          'CANARY: they asked the same question again and again, and it was found.',
          {
            usage: { input: 900, output: 30, total: 930 },
          },
        ),
      ),
    ],
    { name: 'openai:gpt-5-mini' },
  );
  const agent = longAgent(longModel())
    .withCompaction({ atTokens: 3_000, clearToolResults: false, model: small })
    .withCapability(telemetry())
    .build();
  let state = AgentState.empty();
  for (let i = 0; i < 12; i++) {
    state = await agent.run(state.withUserMessage(`Question ${i}`));
    expectSpansOf(await otlp.spans(), state);
  }
  const summaries = state.compactions.filter(({ kind }) => kind === 'summary');
  expect(summaries.length).toBeGreaterThan(0);
  const spans = await otlp.spans();
  const written = named(spans, 'chat gpt-5-mini');
  expect(written.length).toBe(small.requests.length);
  const done = written.filter(({ attributes }) => attributes['error.type'] === undefined);
  expect(done.length).toBe(summaries.length);
  for (const { attributes } of written) {
    expect(attributes).toMatchObject({
      'onward.summary': true,
      'gen_ai.request.model': 'gpt-5-mini',
      'gen_ai.operation.name': 'chat',
    });
    expect(attributes['onward.attempt']).toBeUndefined();
  }
  expect(done[0]?.attributes).toMatchObject({
    'gen_ai.usage.input_tokens': 900,
    'gen_ai.usage.output_tokens': 30,
  });
  const parents = new Set(named(spans, 'invoke_agent').map(({ spanId }) => spanId));
  for (const { parentSpanId } of written) expect(parents).toContain(parentSpanId);
  expect(treeOf(spans)).toContain('  chat gpt-5-mini');
  expect(otlp.text()).not.toContain('CANARY');
});
