import { context, trace } from '@opentelemetry/api';
import { AgentBuilder, AgentState, defineTool, SlimAgentStateSerializer, type Agent } from 'onward';
import { telemetry } from 'onward/telemetry';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { approve } from '../setup/approvals.ts';
import { named, observedHere, treeOf } from '../setup/otlp.ts';
import { expectSpansOf } from '../setup/span-counts.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const model = (...script: readonly ScenarioStep[]) => DeterministicDriver.fromSteps(...script);
const pay = mockTool('pay', 'paid', { needsApproval: true });
const ask = defineTool({
  name: 'ask',
  description: 'Asks.',
  parameters: z.object({}),
  execute: (_args, { input, requestInput }) =>
    input
      ? 'answered'
      : requestInput({
          sure: { message: 'Sure?', schema: { type: 'object', properties: {}, required: [] } },
        }),
});

/** The agent of one process, with the script that is left. */
const bank = (...script: readonly ScenarioStep[]): Agent =>
  AgentBuilder.base()
    .withName('bank')
    .withDriver(model(...script))
    .withTools(pay, ask, mockTool('look', 'seen'))
    .withCapability(telemetry())
    .build();

const stored = (state: AgentState): never => JSON.parse(JSON.stringify(state)) as never;

it('an approved and a denied call of a step that began in another process', async () => {
  const otlp = await observedHere();
  const paused = await bank(toolCalls([{ name: 'look' }, { name: 'pay' }, { name: 'pay' }])).run(
    'go',
  );
  const state = await bank(final('done')).resume(stored(paused), {
    approvals: { call_2: approve, call_3: { deny: 'no' } },
  });
  const spans = await otlp.spans();
  expect(treeOf(spans)).toEqual([
    'invoke_agent bank',
    '  chat deterministic',
    '  execute_tool look',
    '  invoke_agent bank',
    '    execute_tool pay',
    '    execute_tool pay !denied',
    '    chat deterministic',
  ]);
  expectSpansOf(spans, state);
});

it('a question of a tool has a span for each time that it runs', async () => {
  const otlp = await observedHere();
  const paused = await bank(toolCall('ask')).run('go');
  const inputId = paused.pendingInputs[0]?.inputId ?? '';
  const state = await bank(final('done')).resume(stored(paused), {
    inputs: { [inputId]: { action: 'accept', content: {} } },
  });
  expect(state.status).toBe('completed');
  const spans = await otlp.spans();
  expectSpansOf(spans, state);
  expect(
    named(spans, 'execute_tool').map(({ attributes }) => attributes['onward.tool.outcome']),
  ).toEqual(['input_required', 'ok']);
});

it('an approval inside an agent behind a tool links its runs', async () => {
  const otlp = await observedHere();
  const root = (inner: readonly ScenarioStep[], outer: readonly ScenarioStep[]) =>
    AgentBuilder.base()
      .withName('root')
      .withDriver(model(...outer))
      .withTools(
        AgentBuilder.base()
          .withName('clerk')
          .withDriver(model(...inner))
          .withTools(pay)
          .build()
          .asTool({ name: 'clerk', description: 'Pays.' }),
      )
      .withCapability(telemetry())
      .build();
  const paused = await root([toolCall('pay')], [toolCall('clerk', { input: 'Pay.' })]).run('go');
  const callId = paused.pendingApprovals[0]?.callId ?? '';
  const state = await root([final('paid')], [final('done')]).resume(stored(paused), {
    approvals: { [callId]: approve },
  });
  expect(state.status).toBe('completed');
  const spans = await otlp.spans();
  expect(treeOf(spans)).toEqual([
    'invoke_agent root',
    '  chat deterministic',
    '  execute_tool clerk',
    '    invoke_agent clerk',
    '      chat deterministic',
    '  invoke_agent root',
    '    execute_tool clerk',
    '      invoke_agent clerk',
    '        execute_tool pay',
    '        chat deterministic',
    '    chat deterministic',
  ]);
  expectSpansOf(spans, state);
  const [first, second] = named(spans, 'invoke_agent clerk');
  expect(second?.links).toEqual([{ traceId: first?.traceId, spanId: first?.spanId }]);
});

it('a resume inside another trace stays in its own, with a link', async () => {
  const otlp = await observedHere();
  const paused = await bank(toolCall('pay')).run('go');
  const request = trace.getTracer('test').startSpan('POST /approve');
  const state = await context.with(trace.setSpan(context.active(), request), () =>
    bank(final('done')).resume(stored(paused), { approvals: { call_1: approve } }),
  );
  request.end();
  const spans = await otlp.spans();
  const [first, second] = named(spans, 'invoke_agent');
  expect(second?.traceId).toBe(first?.traceId);
  expect(second?.parentSpanId).toBe(first?.spanId);
  expect(second?.links).toEqual([
    { traceId: request.spanContext().traceId, spanId: request.spanContext().spanId },
  ]);
  expect(state.execution.traceparent).toBe(`00-${first?.traceId}-${first?.spanId}-01`);
});

it('a grant continues the trace and is on the span', async () => {
  const otlp = await observedHere();
  const limited = (...script: readonly ScenarioStep[]) =>
    AgentBuilder.base()
      .withDriver(model(...script))
      .withTools(mockTool('look', 'seen'))
      .withMaxSteps(1)
      .withCapability(telemetry())
      .build();
  const stopped = await limited(toolCall('look')).run('go');
  const state = await limited(final('done')).resume(stored(stopped), { grant: { steps: 2 } });
  const spans = await otlp.spans();
  expectSpansOf(spans, state);
  const [first, second] = named(spans, 'invoke_agent');
  expect(first?.attributes).toMatchObject({
    'onward.stop_reason': 'steps_limit',
    'onward.decided_by': 'StepsLimit',
    'onward.explanation': expect.stringContaining('it used 1 of 1 step '),
  });
  expect(second?.attributes).toMatchObject({ 'onward.grants.steps': 2 });
  expect(second?.traceId).toBe(first?.traceId);
});

it('a paused run that is stopped ends with a span, and its open calls with theirs', async () => {
  const otlp = await observedHere();
  const paused = await bank(toolCall('pay')).run('go');
  const state = bank().stop(paused, { reason: 'CANARY' });
  const spans = await otlp.spans();
  expect(treeOf(spans)).toEqual([
    'invoke_agent bank',
    '  chat deterministic',
    '  invoke_agent bank',
    '    execute_tool pay !aborted',
  ]);
  expectSpansOf(spans, state);
  expect(otlp.text()).not.toContain('CANARY');
  const stops = (await otlp.points()).filter(({ metric }) => metric === 'onward.stops');
  expect(stops.map(({ attributes }) => attributes['onward.stop_reason'])).toEqual([
    'user_requested',
  ]);
});

it('the trace survives the slim form, and a broken or foreign trace context is ignored', async () => {
  const otlp = await observedHere();
  const paused = await bank(toolCall('pay')).run('go');
  const serializer = new SlimAgentStateSerializer();
  const slim = serializer.deserialize(
    JSON.parse(JSON.stringify(serializer.serialize(paused))) as never,
  );
  expect(slim.execution.traceparent).toBe(paused.execution.traceparent);
  for (const traceparent of [
    'x',
    `00-${'0'.repeat(32)}-${'1'.repeat(16)}-01`,
    `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01\r\nx: y`,
  ]) {
    const broken = paused.with({ execution: { ...paused.execution, traceparent } });
    await bank(final('done')).resume(stored(broken), { approvals: { call_1: approve } });
  }
  const resumed = named(await otlp.spans(), 'invoke_agent').slice(1);
  expect(resumed).toHaveLength(3);
  for (const { parentSpanId } of resumed) expect(parentSpanId).toBe('');
});
