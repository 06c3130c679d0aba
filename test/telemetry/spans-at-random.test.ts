import * as fc from 'fast-check';
import {
  AgentBuilder,
  ErrorPolicy,
  type AgentState,
  type InferenceDriver,
  type ToolContext,
} from 'onward';
import { telemetry } from 'onward/telemetry';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import { named, observedHere } from '../setup/otlp.ts';
import { expectSpansOf } from '../setup/span-counts.ts';

const names = ['look', 'bad', 'pay', 'stop', 'pause', 'ask_clerk', 'nonsense'] as const;
const step = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 });

/** An agent with every kind of tool. */
const agentWith = (driver: InferenceDriver) =>
  AgentBuilder.base()
    .withName('root')
    .withDriver(driver)
    .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
    .withMaxSteps(6)
    .withTools(
      mockTool('look', 'seen'),
      mockTool('bad', () => Promise.reject(new Error('broken'))),
      mockTool('pay', 'paid', { needsApproval: true }),
      mockTool('stop', (_args: unknown, context: ToolContext) => context.requestStop('enough')),
      mockTool('pause', (_args: unknown, context: ToolContext) => context.requestPause('later')),
      AgentBuilder.base()
        .withName('clerk')
        .withDriver({
          name: 'clerk:model',
          infer: async ({ messages }) => ({
            content: messages.last()?.role === 'tool' ? 'answered' : '',
            toolCalls: messages.last()?.role === 'tool' ? [] : [{ name: 'pay', args: {} }],
            finishReason: 'stop',
            usage: null,
          }),
        })
        .withTools(mockTool('pay', 'paid', { needsApproval: true }))
        .build()
        .asTool({ name: 'ask_clerk', description: 'Asks.' }),
    )
    .withCapability(telemetry())
    .build();

it('D86: spans match the steps of random runs, over pauses and new agent objects', async () => {
  const otlp = await observedHere();
  const ended: AgentState[] = [];
  const seen = { paused: 0, stopped: 0, nested: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 7 }), fc.boolean(), async (script, approves) => {
      const steps = script.map((calls) =>
        ScenarioStep.toolCalls(calls.map((name) => ({ name, args: { input: 'x' } }))),
      );
      const driver = DeterministicDriver.fromSteps(...steps, ScenarioStep.final('done'));
      let state = await agentWith(driver).run('go');
      while (state.status === 'paused') {
        seen.paused += 1;
        const answer = approves ? { approve: true as const } : { deny: 'no' };
        const approvals = Object.fromEntries(
          state.pendingApprovals.map(({ callId }) => [callId, answer]),
        );
        state = await agentWith(driver).resume(JSON.parse(JSON.stringify(state)) as never, {
          approvals,
        });
      }
      if (state.status === 'stopped') seen.stopped += 1;
      ended.push(state);
    }),
    { numRuns: 60 },
  );
  const spans = await otlp.spans();
  for (const state of ended) expectSpansOf(spans, state);
  seen.nested = named(spans, 'invoke_agent clerk').length;
  for (const [kind, count] of Object.entries(seen)) expect([kind, count > 3]).toEqual([kind, true]);
  // every span but the first one of each execution has its parent here, and one trace per execution
  const ids = new Set(spans.map(({ spanId }) => spanId));
  expect(spans.filter(({ parentSpanId }) => !ids.has(parentSpanId))).toHaveLength(ended.length);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(ended.length);
});
