import { context, propagation, trace } from '@opentelemetry/api';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-node';
import { AgentBuilder, createAgent, type InferenceDriver, type ToolContext } from 'onward';
import { mcp } from 'onward/mcp';
import { telemetry } from 'onward/telemetry';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { expect, it, onTestFinished } from 'vitest';
import { stateless } from '../setup/mcp-servers.ts';
import { named, observedHere, treeOf } from '../setup/otlp.ts';
import { expectSpansOf } from '../setup/span-counts.ts';

const { toolCall, final } = ScenarioStep;
const later = () => new Promise((resolve) => setTimeout(resolve, 5));
const span = (name: string) => trace.getTracer('test').startSpan(name).end();

it('the context is active in tools, drivers and streams, also after a wait', async () => {
  const otlp = await observedHere();
  const script = DeterministicDriver.fromSteps(toolCall('look'), final('done'));
  const driver: InferenceDriver = {
    name: 'openai:gpt-5',
    async infer(request, options) {
      await later();
      span('POST api.openai.com');
      return script.infer(request, options);
    },
    async *stream(request, options) {
      await later();
      span('POST api.openai.com');
      yield* script.stream(request, options);
    },
  };
  const agent = AgentBuilder.base()
    .withName('shop')
    .withDriver(driver)
    .withTools(
      mockTool('look', async () => {
        await later();
        span('SELECT');
        return 'seen';
      }),
    )
    .withCapability(telemetry())
    .build();
  const tree = [
    'invoke_agent shop',
    '  chat gpt-5',
    '    POST api.openai.com',
    '  execute_tool look',
    '    SELECT',
    '  chat gpt-5',
    '    POST api.openai.com',
  ];
  await agent.run('go');
  expect(treeOf(await otlp.spans())).toEqual(tree);
});

it('the run belongs to the span around it', async () => {
  const otlp = await observedHere();
  const agent = createAgent({
    name: 'shop',
    driver: DeterministicDriver.fromResponses('a', 'b'),
    capabilities: [telemetry()],
  });
  await trace.getTracer('test').startActiveSpan('job', async (job) => {
    await agent.run('go');
    for await (const piece of agent.stream('go').textStream) expect(piece).toBe('b');
    job.end();
  });
  expect(treeOf(await otlp.spans())).toEqual([
    'job',
    '  invoke_agent shop',
    '    chat deterministic',
    '  invoke_agent shop',
    '    chat deterministic',
  ]);
});

it('without a context manager the spans of agents behind tools still nest', async () => {
  const otlp = await observedHere();
  context.disable();
  const clerk = createAgent({ name: 'clerk', driver: DeterministicDriver.fromResponses('asked') });
  await createAgent({
    name: 'shop',
    driver: DeterministicDriver.fromSteps(toolCall('ask', { input: 'x' }), final('done')),
    tools: [clerk.asTool({ name: 'ask', description: 'Asks.' })],
    capabilities: [telemetry()],
  }).run('go');
  expect(treeOf(await otlp.spans()).toSorted()).toEqual(
    [
      'invoke_agent shop',
      '  chat deterministic',
      '  execute_tool ask',
      '  invoke_agent clerk',
      '    chat deterministic',
      '  chat deterministic',
    ].toSorted(),
  );
});

it('what is not sampled stays so in a later run', async () => {
  const otlp = await observedHere({ sampler: new AlwaysOffSampler() });
  const state = await createAgent({
    driver: DeterministicDriver.fromResponses('done'),
    capabilities: [telemetry()],
  }).run('go');
  expect(state.execution.traceparent).toMatch(/-00$/);
  expect(await otlp.spans()).toEqual([]);
});

it('an MCP server gets the trace context of its call, and no other tool sees it', async () => {
  const otlp = await observedHere();
  const server = await stateless();
  const capability = mcp({ name: 'st', url: server.url });
  const agent = createAgent({
    name: 'shop',
    driver: DeterministicDriver.fromSteps(toolCall('st__trace'), toolCall('own'), final('done')),
    tools: [mockTool('own', (_args: unknown, { traceHeaders }: ToolContext) => traceHeaders)],
    capabilities: [capability, telemetry()],
  });
  onTestFinished(() => agent.close());
  const state = await agent.run('go');
  const spans = await otlp.spans();
  const [theirs, own] = named(spans, 'execute_tool');
  const header = (of: typeof theirs) => `00-${of?.traceId}-${of?.spanId}-01`;
  expect(state.steps.at(0)?.results[0]?.value).toBe(header(theirs));
  expect(state.steps.at(1)?.results[0]?.value).toEqual({ traceparent: header(own) });
  expect(treeOf(spans)).toEqual([
    'invoke_agent shop',
    '  chat deterministic',
    '  execute_tool st__trace',
    '  chat deterministic',
    '  execute_tool own',
    '  chat deterministic',
  ]);
  expect(propagation.fields()).toContain('traceparent');
  expectSpansOf(spans, state);
});
