import { AgentBuilder } from 'onward';
import { runtimeMetrics, telemetry } from 'onward/telemetry';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import { observedHere, type ReceivedPoint } from '../setup/otlp.ts';
import { ann, memoryPlace, runtimeOn } from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;
const of = (points: readonly ReceivedPoint[], metric: string) =>
  points
    .filter((point) => point.metric === metric)
    .map(({ unit, attributes, value, count }) => ({ unit, attributes, value, count }));

it('counts tokens, cost, durations and stops, also of agents behind tools', async () => {
  const otlp = await observedHere();
  const clock = fakeClock();
  const usage = { input: 100, output: 10 };
  const driver = (...script: readonly ScenarioStep[]) =>
    DeterministicDriver.create(script, { name: 'openai:gpt-5', model: 'mine', clock });
  const slow = mockTool(
    'slow',
    () => new Promise((resolve) => clock.after(3_000, () => resolve('ok'))),
  );
  const clerk = AgentBuilder.base()
    .withName('clerk')
    .withDriver(driver(toolCall('slow', {}, '', { usage }), final('asked', { usage })))
    .withTools(slow)
    .withClock(clock)
    .withPrices({ mine: { input: 1, output: 10 } })
    .build();
  const running = AgentBuilder.base()
    .withName('shop')
    .withDriver(
      driver(toolCall('ask', { input: 'What?' }, '', { usage }), final('done', { usage })),
    )
    .withTools(clerk.asTool({ name: 'ask', description: 'Asks.' }))
    .withClock(clock)
    .withPrices({ mine: { input: 1, output: 10 } })
    .withCapability(telemetry())
    .build()
    .run('go');
  await clock.advance(3_000);
  const state = await running;
  const points = await otlp.points();
  const model = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'mine',
  };
  expect(of(points, 'gen_ai.client.token.usage')).toEqual([
    {
      unit: '{token}',
      attributes: { ...model, 'gen_ai.token.type': 'input' },
      value: 400,
      count: 4,
    },
    {
      unit: '{token}',
      attributes: { ...model, 'gen_ai.token.type': 'output' },
      value: 40,
      count: 4,
    },
  ]);
  expect(of(points, 'gen_ai.client.operation.duration')).toMatchObject([
    { unit: 's', attributes: model, count: 4 },
  ]);
  const costs = of(points, 'onward.cost');
  expect(costs.map(({ attributes }) => attributes['gen_ai.agent.name'])).toEqual(['shop', 'clerk']);
  const total = costs.reduce((sum, { value }) => sum + value, 0);
  expect(total).toBeCloseTo(state.cost ?? 0, 10);
  expect(total).toBeGreaterThan(0);
  expect(of(points, 'onward.tool.duration')).toEqual(
    expect.arrayContaining([
      {
        unit: 's',
        attributes: { 'gen_ai.agent.name': 'clerk', 'gen_ai.tool.name': 'slow' },
        value: 3,
        count: 1,
      },
    ]),
  );
  expect(of(points, 'onward.run.duration')).toMatchObject([
    { attributes: { 'gen_ai.agent.name': 'clerk', 'onward.stop_reason': 'completed' }, value: 3 },
    { attributes: { 'gen_ai.agent.name': 'shop', 'onward.stop_reason': 'completed' }, value: 3 },
  ]);
  expect(of(points, 'onward.stops').map(({ value }) => value)).toEqual([1, 1]);
});

it('works without a tracer, and a run without a meter has its spans', async () => {
  const otlp = await observedHere({ traces: false });
  const agent = () =>
    AgentBuilder.base()
      .withDriver(DeterministicDriver.fromResponses('done'))
      .withCapability(telemetry())
      .build();
  const state = await agent().run('go');
  expect(state.execution.traceparent).toBeUndefined();
  expect(await otlp.spans()).toEqual([]);
  expect(of(await otlp.points(), 'onward.stops')).toHaveLength(1);
});

it('reports queue, leases and parked sessions of a store', async () => {
  const otlp = await observedHere();
  const place = memoryPlace();
  let enter: () => void = () => {};
  const entered = new Promise<void>((resolve) => (enter = resolve));
  let leave: () => void = () => {};
  const agent = AgentBuilder.base()
    .withName('a')
    .withDriver(DeterministicDriver.fromSteps(toolCall('wait'), final('done')))
    .withTools(
      mockTool('wait', () => {
        enter();
        return new Promise((resolve) => (leave = () => resolve('ok')));
      }),
    )
    .withCapability(telemetry())
    .build();
  const runtime = runtimeOn(place.open(), agent);
  const end = runtimeMetrics(runtime);
  await runtime.create({ id: 's', ...ann });
  await runtime.send('s', 'go', ann);
  await entered;
  const points = await otlp.points();
  const labels = { 'gen_ai.agent.name': 'a' };
  const value = (metric: string) =>
    of(points, metric).map((point) => [point.attributes, point.value]);
  expect(value('onward.leases.active')).toEqual([[labels, 1]]);
  for (const metric of ['queue.waiting', 'queue.oldest', 'leases.expired', 'sessions.parked'])
    expect([metric, value(`onward.${metric}`)]).toEqual([metric, [[labels, 0]]]);
  expect(value('onward.workers')).toMatchObject([[labels, expect.any(Number)]]);
  leave();
  await runtime.wait('s', ann);
  end();
});
