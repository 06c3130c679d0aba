import { diag, DiagLogLevel } from '@opentelemetry/api';
import { AgentBuilder, type ToolContext } from 'onward';
import { runtimeMetrics, telemetry } from 'onward/telemetry';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { expect, it, onTestFinished } from 'vitest';
import { approve } from '../setup/approvals.ts';
import { observedHere } from '../setup/otlp.ts';
import { ann, memoryPlace, runtimeOn, waiting } from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;
const agent = (...script: readonly ScenarioStep[]) =>
  AgentBuilder.base()
    .withDriver(DeterministicDriver.fromSteps(...script))
    .withTools(mockTool('pay', 'paid', { needsApproval: true }))
    .withCapability(telemetry())
    .build();

it('D86: says once in the debug log that nothing is recorded', async () => {
  const said: string[] = [];
  const log = (text: string) => void said.push(text);
  diag.setLogger(
    { verbose: log, debug: log, info: log, warn: log, error: log },
    { logLevel: DiagLogLevel.DEBUG, suppressOverrideMessage: true },
  );
  onTestFinished(() => diag.disable());
  for (let i = 0; i < 3; i++) await agent(final('done')).run('go');
  expect(said.filter((text) => text.startsWith('onward:'))).toEqual([
    'onward: telemetry() records nothing, because no OpenTelemetry SDK is registered. See docs/observability.md.',
  ]);
});

it('records nothing in the state, and gives tools no headers', async () => {
  let headers: unknown = null;
  const state = await AgentBuilder.base()
    .withDriver(DeterministicDriver.fromSteps(toolCall('look'), final('done')))
    .withTools(
      mockTool('look', (_args: unknown, { traceHeaders }: ToolContext) => (headers = traceHeaders)),
    )
    .withCapability(telemetry())
    .build()
    .run('go');
  expect(state.execution).not.toHaveProperty('traceparent');
  expect(headers).toEqual({});
  const runtime = runtimeOn(memoryPlace().open(), agent(final('done')));
  runtimeMetrics(runtime)();
  await runtime.create({ id: 's', ...ann });
  expect((await runtime.send('s', 'go', waiting)).status).toBe('completed');
});

it('keeps a stored trace while no SDK is there, and uses one that is registered later', async () => {
  const first = await observedHere();
  const paused = await agent(toolCall('pay')).run('go');
  await first.spans();
  const { traceparent } = paused.execution;
  expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  const { context, metrics, propagation, trace } = await import('@opentelemetry/api');
  for (const api of [trace, metrics, context, propagation]) api.disable();
  const resumed = await agent(toolCall('pay')).resume(paused, { approvals: { call_1: approve } });
  expect(resumed.status).toBe('paused');
  expect(resumed.execution.traceparent).toBe(traceparent);
  const second = await observedHere();
  const again = await agent(final('done')).resume(resumed, {
    approvals: { [resumed.pendingApprovals[0]?.callId ?? '']: approve },
  });
  expect(again.status).toBe('completed');
  const spans = await second.spans();
  expect(spans.length).toBeGreaterThan(0);
  for (const { traceId } of spans) expect(traceparent).toContain(traceId);
});

it('an SDK that fails changes no run', async () => {
  const { trace } = await import('@opentelemetry/api');
  const broken = (): never => {
    throw new Error('broken');
  };
  trace.setGlobalTracerProvider({
    getTracer: () => ({ startSpan: broken, startActiveSpan: broken }),
  });
  onTestFinished(() => trace.disable());
  expect((await agent(final('done')).run('go')).output).toBe('done');
  let started = 0;
  const span = new Proxy(
    {},
    {
      get: (_, key) =>
        key === 'spanContext' ? () => ({ traceId: 'x', spanId: 'y', traceFlags: 1 }) : broken,
    },
  );
  trace.disable();
  trace.setGlobalTracerProvider({
    getTracer: () => ({ startSpan: () => (++started, span) as never, startActiveSpan: broken }),
  });
  const paused = await agent(toolCall('pay')).run('go');
  const state = await agent(final('done')).resume(paused, { approvals: { call_1: approve } });
  expect(state.output).toBe('done');
  expect(started).toBeGreaterThan(3);
});
