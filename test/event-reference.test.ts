import { readFileSync } from 'node:fs';
import {
  AgentBuilder,
  AgentState,
  defineTool,
  ErrorPolicy,
  Message,
  type AgentEvent,
  type RunOptions,
  type ToolContext,
} from 'onward';
import {
  AgentEventEnvelopeAdapter,
  BroadcastConfig,
  memoryBroadcaster,
  type Envelope,
  type EnvelopeOf,
  type EnvelopeType,
} from 'onward/broadcasting';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import type { AgentEventType } from '../src/events/agent-event.ts';

const { toolCall, error } = ScenarioStep;
const text = readFileSync('docs/events.md', 'utf8');

const spent = {
  usage: { input: 150, output: 50, total: 200 },
  cost: 0.0012,
  model: 'gpt-5-2025-08-07',
  requestId: 'req_7f2c94e1',
};
const agentId = '1f3a9c02-5d1e-4c8a-9b57-2e6f0d8c4a11';

const sure = {
  type: 'object',
  properties: { sure: { type: 'boolean' } },
  required: ['sure'],
} as const;

/** Runs that emit every event type. Returns the events and the broadcast envelopes. */
async function story() {
  const clock = fakeClock('2026-01-16T12:00:00.000Z');
  const events: AgentEvent[] = [];
  const broadcaster = memoryBroadcaster();
  const adapters: AgentEventEnvelopeAdapter[] = [];
  const listening = (executionId: string): RunOptions => {
    const config = BroadcastConfig.debug();
    const sessionId = 'lamps-for-ada';
    const to = new AgentEventEnvelopeAdapter({ broadcaster, sessionId, executionId, config });
    adapters.push(to);
    const report = to.wiretap();
    return { executionId, wiretap: (event) => (events.push(event), report(event)) };
  };
  const builder = (...steps: ScenarioStep[]) =>
    AgentBuilder.new()
      .withName('shop')
      .withDriver(DeterministicDriver.fromSteps(...steps))
      .withMaxSteps(2)
      .withClock(clock)
      .withHooks({
        name: 'time passes',
        aroundModelCall: async (request, next) => (clock.jump(850), next(request)),
        aroundToolCall: async (input, next) => (clock.jump(40), next(input)),
      });
  const start = (asked: string): AgentState =>
    AgentState.empty({ agentId, now: clock.now() }).withUserMessage(asked);

  const shop = builder(
    toolCall('stock', { article: 'lamp' }, 'Let me look.', {
      ...spent,
      reasoning: 'The stock list has lamps.',
    }),
    toolCall('order', { article: 'lamp', pieces: 3 }, 'I will order three.', spent),
  )
    .withTools(
      mockTool('stock', { pieces: 7 }),
      mockTool('order', 'A-1001', { needsApproval: true }),
    )
    .build();
  const first = listening('7c9e6679-7425-40de-944b-e07fc1f90ae7');
  const paused = await shop.run(start('Do we have lamps? Order three.'), first);
  clock.jump(60_000);
  await shop.resume(paused, { ...first, approvals: { call_2: { approve: true } } });

  const busy = {
    type: 'rate_limit',
    code: 'http_429',
    status: 429,
    message: 'slow down',
    retryAfterMs: 2000,
  } as const;
  const unlucky = builder(error(busy, { chunks: ['One ', 'moment'] }), error(busy))
    .withErrorPolicy(ErrorPolicy.retryAll().withMaxRetries(1))
    .build();
  const second = unlucky.run(
    start('And chairs?'),
    listening('0b0e4d3c-9a51-4f0e-8f5e-6f1f5a3f8c20'),
  );
  await clock.advance(2000);
  await second;
  const gone = { type: 'model', code: 'not_found', message: 'There is no such model.' } as const;
  const [broken, whole] = ['openai:gpt-5', 'openai:gpt-5-mini'].map((name, i) =>
    DeterministicDriver.create(i === 0 ? [error(gone)] : [ScenarioStep.final('Yes.', spent)], {
      name,
    }),
  );
  await builder()
    .withModel(broken!)
    .withFallback(whole!)
    .build()
    .run(start('And tables?'), listening('5f0c9a52-2f0a-4f29-8f0a-3c1d7a9be402'));
  const scan = mockTool(
    'scan',
    (_args: unknown, { progress }: ToolContext) => {
      progress({ message: 'Reading shelf 3', progress: 3, total: 12 });
      return 'done';
    },
    { description: 'Scans the shelves.' },
  );
  let asked = 0;
  await builder(toolCall('scan', {}), ScenarioStep.final('Done.'))
    .withCapability({
      name: 'warehouse',
      tools: () =>
        asked++ === 0
          ? { tools: [scan] }
          : { tools: [], unavailable: 'the server does not answer' },
    })
    .build()
    .run(start('And the shelves?'), listening('9d0f3c11-6f1b-4a53-a5a9-52d0b6a1f1e7'));
  const withdraw = defineTool({
    name: 'withdraw',
    description: 'Takes an article off the shop.',
    execute: (_args, { requestInput }) =>
      requestInput({ sure: { message: 'Take the lamp off the shop?', schema: sure } }),
  });
  await builder(toolCall('withdraw'))
    .withTools(withdraw)
    .build()
    .run(start('Withdraw the lamp.'), listening('2d6f3a8e-61c4-4b0f-9a53-7b1f0c9d4e55'));
  const keeper = DeterministicDriver.create([
    ScenarioStep.final(
      'The user wants to restock lamps. Decided: three lamps, order A-1001.',
      spent,
    ),
  ]);
  const long = start('We sell lamps. '.repeat(80))
    .withMessages(Message.assistant('I ordered three lamps: A-1001.'))
    .withUserMessage('Which order was it?');
  await builder(ScenarioStep.final('A-1001.', spent))
    .withCompaction({ atTokens: 250, keepTurns: 1, model: keeper })
    .build()
    .run(long, listening('c1f1bb0e-2b5d-4a3e-8f5c-0f4f8d1f9a77'));
  for (const adapter of adapters) await adapter.flush();
  return { events, envelopes: broadcaster.envelopes() };
}

type Sample = Record<string, unknown>;

/** Numbers the random ids and, unless all are wanted, keeps only the deciding evaluation of an outcome. */
function shown(
  value: unknown,
  wanted: 'all evaluations' | 'one evaluation' = 'one evaluation',
): Sample {
  const ids: string[] = [];
  const countedId = (id: string): string => {
    if (!ids.includes(id)) ids.push(id);
    return `msg_${ids.indexOf(id) + 1}`;
  };
  const steady = JSON.stringify(value)
    .replaceAll(/msg_[a-z0-9]{16}/g, countedId)
    .replaceAll(/cmp_[a-z0-9]{16}/g, 'cmp_1');
  return JSON.parse(steady, (_key, part: unknown) => {
    const { evaluations, resolvedBy, resolved_by = resolvedBy } = (part ?? {}) as Sample;
    if (wanted === 'all evaluations' || !Array.isArray(evaluations)) return part;
    const decisive = evaluations.filter(({ criterion }) => criterion === resolved_by);
    return { ...(part as object), evaluations: decisive };
  }) as Sample;
}

const { events, envelopes } = await story();
const has = (fields: object) => (one: object) =>
  Object.entries(fields).every(([key, value]) => (one as Sample)[key] === value);

const event = (type: AgentEventType, fields: object = {}): AgentEvent =>
  events.find(has({ type, ...fields }))!;
const envelope = (type: EnvelopeType, payload: object = {}): Envelope =>
  envelopes.find((one) => one.type === type && has(payload)(one.payload))!;

// it comes from the feed of a session, not from a run
const workerLost: Envelope = {
  ...(envelope('agent.stream.chunk') as EnvelopeOf<'agent.stream.chunk'>),
  type: 'agent.worker',
  payload: { status: 'lost' },
};
const piece = '"article":"lamp"}';
const eventSamples: Record<AgentEventType, unknown> = {
  AgentStarted: event('AgentStarted'),
  MessageAdded: event('MessageAdded', { role: 'assistant' }),
  ContinuationEvaluated: event('ContinuationEvaluated', { stepNumber: 2 }),
  AgentStepStarted: event('AgentStepStarted'),
  ToolsChanged: event('ToolsChanged'),
  ToolProgress: event('ToolProgress'),
  StreamChunk: event('StreamChunk'),
  ReasoningDelta: event('ReasoningDelta'),
  ToolCallDelta: event('ToolCallDelta', { argsDelta: piece }),
  ToolCallStarted: event('ToolCallStarted'),
  ToolCallCompleted: event('ToolCallCompleted'),
  ToolApprovalRequested: event('ToolApprovalRequested'),
  ToolInputRequested: event('ToolInputRequested'),
  TokenUsageReported: event('TokenUsageReported'),
  AgentStepCompleted: event('AgentStepCompleted'),
  StepFailed: event('StepFailed'),
  ModelFallback: event('ModelFallback'),
  ContextCompacted: event('ContextCompacted'),
  StreamDiscarded: event('StreamDiscarded'),
  AgentStateUpdated: event('AgentStateUpdated'),
  AgentPaused: event('AgentPaused'),
  AgentFinished: event('AgentFinished'),
  AgentFailed: event('AgentFailed'),
};

const envelopeSamples: Record<EnvelopeType, Record<string, Envelope>> = {
  'agent.status': {
    'agent.status, start': envelope('agent.status', { status: 'processing' }),
    'agent.status, pause': envelope('agent.status', { status: 'paused' }),
    'agent.status, stop': envelope('agent.status', { status: 'stopped' }),
  },
  'agent.message': { 'agent.message': envelope('agent.message', { role: 'assistant' }) },
  'agent.step.started': { 'agent.step.started': envelope('agent.step.started') },
  'agent.step.completed': { 'agent.step.completed': envelope('agent.step.completed') },
  'agent.model.fallback': { 'agent.model.fallback': envelope('agent.model.fallback') },
  'agent.context.compacted': { 'agent.context.compacted': envelope('agent.context.compacted') },
  'agent.tool.started': { 'agent.tool.started': envelope('agent.tool.started') },
  'agent.tool.progress': { 'agent.tool.progress': envelope('agent.tool.progress') },
  'agent.tool.completed': { 'agent.tool.completed': envelope('agent.tool.completed') },
  'agent.approval.requested': {
    'agent.approval.requested': envelope('agent.approval.requested'),
  },
  'agent.input.requested': { 'agent.input.requested': envelope('agent.input.requested') },
  'agent.continuation': {
    'agent.continuation': envelope('agent.continuation', { step: 2 }),
  },
  'agent.stream.chunk': { 'agent.stream.chunk': envelope('agent.stream.chunk') },
  'agent.reasoning.chunk': { 'agent.reasoning.chunk': envelope('agent.reasoning.chunk') },
  'agent.worker': { 'agent.worker': workerLost },
  'agent.stream.discarded': { 'agent.stream.discarded': envelope('agent.stream.discarded') },
  'agent.tool.delta': {
    'agent.tool.delta': envelope('agent.tool.delta', { args_delta: piece }),
  },
};

const samples = new Map<string, Sample>([
  ...Object.entries(eventSamples).map(
    ([name, one]) =>
      [
        name,
        shown(one, name === 'ContinuationEvaluated' ? 'all evaluations' : 'one evaluation'),
      ] as const,
  ),
  ...Object.values(envelopeSamples)
    .flatMap((named) => Object.entries(named))
    .map(([name, one]) => [name, shown(one)] as const),
]);

/** The page with current samples. A sample that did not change keeps its formatting. */
const pageNow = (): string =>
  text.replaceAll(
    /(<!-- sample: (.+?) -->\s*```json\n)([\s\S]*?)(?=```)/g,
    (_block, head: string, name: string, written: string) => {
      const sample = samples.get(name) ?? `There is no sample "${name}".`;
      return `${head}${isSame(written, sample) ? written : `${JSON.stringify(sample, null, 2)}\n`}`;
    },
  );

function isSame(written: string, sample: unknown): boolean {
  try {
    return JSON.stringify(JSON.parse(written)) === JSON.stringify(sample);
  } catch {
    return false;
  }
}

/** Returns the text under a heading. */
function sectionOf(heading: string): string {
  const [, after = ''] = text.split(`\n### \`${heading}\`\n`);
  return after.split(/\n##/)[0] ?? '';
}
const fieldsOf = (section: string): string[] =>
  [...section.matchAll(/^\| `(\w+)`/gm)].map(([, name = '']) => name);

const common = ['type', 'agentId', 'parentAgentId', 'executionId', 'index', 'at'];
const ofEnvelopes = 'type session_id execution_id agent_id seq prev timestamp payload'.split(' ');

describe('the event reference', () => {
  it('matches the emitted events (update: npx vitest run test/event-reference.test.ts -u && npx oxfmt docs/events.md)', async () => {
    await expect(pageNow()).toMatchFileSnapshot('../docs/events.md');
  });

  it('has every sample once and no others', () => {
    const marks = [...text.matchAll(/<!-- sample: (.+?) -->\s*```json\n/g)].map(
      ([, name = '']) => name,
    );
    expect(marks.toSorted()).toEqual([...samples.keys()].toSorted());
  });

  it.each(Object.keys(eventSamples))('%s: lists all fields, in order', (type) => {
    const sample = samples.get(type)!;
    expect(Object.keys(sample).slice(0, 6)).toEqual(common);
    expect(fieldsOf(sectionOf(type))).toEqual(Object.keys(sample).slice(6));
  });

  it.each(Object.entries(envelopeSamples))('%s: lists all payload fields', (type, named) => {
    const payloads = Object.values(named).map(({ payload }) => payload);
    const fields = new Set(payloads.flatMap((payload) => Object.keys(payload)));
    expect(fieldsOf(sectionOf(type))).toEqual([...fields]);
    for (const one of Object.values(named)) expect(Object.keys(one)).toEqual(ofEnvelopes);
  });

  it('lists the common fields', () => {
    const [, events = ''] = text.split('\n## Every event\n');
    expect(fieldsOf(events.split(/\n##/)[0] ?? '')).toEqual(common);
    const [, wire = ''] = text.split('\n## Envelopes\n');
    const all = fieldsOf(wire.split(/\n##/)[0] ?? '');
    expect(all).toEqual([...ofEnvelopes.slice(0, 4), 'parent_agent_id', ...ofEnvelopes.slice(4)]);
  });
});
