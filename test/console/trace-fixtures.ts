import type { ContinuationOutcomeJSON } from '../../src/continuation/outcome.ts';
import { stopSentence } from '../../src/trace/stop-sentence.ts';
import type { Trace, TraceChild, TraceStep } from '../../src/trace/trace.ts';
import {
  leadHasOwner,
  traceWith,
  type CallSpec,
  type RunSpec,
  type StepSpec,
} from './trace-builder.ts';

const search = (ms: number): CallSpec => ({ name: 'search_entities', ms });

/** The reference run: a timeout, its retry, a 429 with backoff, an approval, and the step limit. */
export const designRun: RunSpec = {
  more: [leadHasOwner],
  steps: [
    { modelMs: 1420, calls: [search(310), search(460)], tokens: [1204, 86] },
    {
      modelMs: 1180,
      calls: [
        {
          name: 'enrich_company',
          ms: 5000,
          state: 'timeout',
          error: 'enrich_company took longer than 5000 ms',
        },
        search(380),
      ],
      tokens: [1612, 74],
    },
    { modelMs: 240, failed: '429 Too many requests', waitMs: 2000 },
    {
      modelMs: 1630,
      calls: [{ name: 'enrich_company', ms: 1840, retry: { number: 1, limit: 3 } }, search(360)],
      tokens: [1798, 92],
    },
    {
      modelMs: 1360,
      calls: [
        { name: 'create_program_lead', ms: 410 },
        { name: 'delete_program_lead', ms: 220, pausedMs: 252_000, answer: 'approved' },
      ],
      tokens: [2310, 118],
    },
    { modelMs: 1210, calls: [search(350)], tokens: [2566, 64] },
  ],
};

const manyCalls = (count: number, scale: number): StepSpec[] =>
  Array.from({ length: count }, (_, i) => ({
    modelMs: (300 + ((i * 137) % 900)) * scale,
    calls:
      i % 7 === 3
        ? []
        : [search((80 + ((i * 61) % 400)) * scale), ...(i % 3 === 0 ? [search(120 * scale)] : [])],
    ...(i % 29 === 11
      ? { failed: 'the provider is overloaded', waitMs: 1000 * scale, calls: [] }
      : {}),
  }));

export const many = (count: number, scale: number = 1): RunSpec => ({
  steps: manyCalls(count, scale).map((step, i) =>
    step.calls?.length === 0 && !step.failed && i < count - 1
      ? { ...step, calls: [search(50 * scale)] }
      : step,
  ),
  maxSteps: count * 2,
  maxTokens: null,
  maxCost: 100,
  maxSeconds: 100_000,
});

/** Creates a trace of any length by repeating a short run, because thousands of outcomes are slow to create. */
export function longTrace(count: number): Trace {
  const part = traceWith(many(50));
  const length = part.totals.seconds.used * 1000;
  const steps = Array.from({ length: count }, (_, i) => {
    const step = part.steps[i % part.steps.length] as TraceStep;
    const later = Math.floor(i / part.steps.length) * length;
    const bars = step.bars.map((bar) => ({ ...bar, at: bar.at + later }));
    return { ...step, number: i + 1, at: step.at + later, bars };
  });
  return { ...part, steps };
}

/** Every state of the trace by name. */
export const runs: Readonly<Record<string, RunSpec>> = {
  design: designRun,
  completed: { steps: [{ modelMs: 1320, calls: [search(240)] }, { modelMs: 2110 }], maxSteps: 20 },
  oneStep: { steps: [{ modelMs: 2110 }], maxSteps: 20, maxTokens: null, maxCost: null },
  running: {
    steps: [
      {
        modelMs: 1180,
        calls: [{ name: 'enrich_company', ms: 5000, state: 'timeout', error: 'took too long' }],
      },
      {
        modelMs: 1440,
        calls: [
          { name: 'enrich_company', ms: 960, state: 'running', retry: { number: 1, limit: 3 } },
        ],
        type: 'running',
      },
    ],
    status: 'processing',
  },
  runningModel: {
    steps: [{ modelMs: 1200, type: 'running', tokens: [0, 0], cost: 0 }],
    status: 'processing',
  },
  waiting: {
    steps: [
      { modelMs: 1420, calls: [search(310)] },
      {
        modelMs: 1180,
        calls: [
          { name: 'create_program_lead', ms: 410 },
          { name: 'delete_program_lead', ms: 0, state: 'waiting' },
        ],
        type: 'waiting',
      },
    ],
    status: 'paused',
  },
  costGuard: {
    steps: [
      { modelMs: 2200, calls: [search(300)], tokens: [30_000, 900] },
      { modelMs: 1900, calls: [search(500)], tokens: [14_000, 600] },
    ],
    maxCost: 0.1,
    maxTokens: 400_000,
  },
  retries: {
    steps: Array.from({ length: 4 }, (_, i) => ({
      modelMs: 900 + i * 80,
      calls: [
        {
          name: 'enrich_company',
          ms: 2500,
          state: 'error' as const,
          error: 'the registry answered 503 Service Unavailable and said nothing else',
          retry: i === 0 ? null : { number: i, limit: 3 },
        },
      ],
    })),
    maxSteps: 20,
  },
  short: {
    steps: [
      { modelMs: 2, calls: [search(1), search(0)], cost: null },
      { modelMs: 3, calls: [{ name: 'create_program_lead', ms: 0 }], cost: null },
      { modelMs: 1, cost: null },
    ],
    maxSteps: 20,
  },
  long: {
    steps: [
      { modelMs: 812_000, calls: [{ name: 'crawl_everything', ms: 1_800_000 }] },
      {
        modelMs: 45_000,
        calls: [
          { name: 'delete_program_lead', ms: 220, pausedMs: 86_400_000 * 2, answer: 'edited' },
          { name: 'wait_for_batch', ms: 2_400_000 },
        ],
      },
      { modelMs: 61_000, softLanding: 'StepsLimit' },
    ],
    maxSteps: 3,
    maxSeconds: 7200,
  },
  many: many(150),
  pauses: {
    steps: Array.from({ length: 9 }, () => ({
      modelMs: 700,
      calls: [{ name: 'delete_program_lead', ms: 120, pausedMs: 9000 }],
    })),
    maxSteps: 9,
  },
};

/** Creates a trace with an outcome before the first step. */
export function beforeAnyStep(): Trace {
  const stopped = traceWith({ steps: [{ modelMs: 10 }], maxTokens: 1000 });
  const outcome: ContinuationOutcomeJSON = {
    decision: 'forbid',
    shouldContinue: false,
    resolvedBy: 'SessionTokenUsageLimit',
    stopReason: 'token_limit',
    evaluations: [
      {
        criterion: 'StepsLimit',
        decision: 'allow',
        reason: '0 of 20 steps',
        context: { used: 0, limit: 20 },
      },
      {
        criterion: 'SessionTokenUsageLimit',
        decision: 'forbid',
        reason: '100212 of 100000 tokens of the session used while work is still pending',
        context: { used: 100_212, limit: 100_000 },
        stopReason: 'token_limit',
        remedy: {
          text: 'raise the limit with sessionTokenUsageLimit(...), then send a new message.',
          option: 'sessionTokenUsageLimit(...)',
        },
      },
      {
        criterion: 'ToolCallPresenceCheck',
        decision: 'request',
        reason: 'a new request waits for an answer',
        context: { toolCalls: 0 },
      },
    ],
  };
  return {
    ...stopped,
    status: 'stopped',
    steps: [],
    outcome,
    totals: {
      ...stopped.totals,
      steps: { used: 0, limit: 20 },
      seconds: { used: 0, limit: null },
      tokens: { used: 0, limit: null },
      inputTokens: 0,
      outputTokens: 0,
      cost: { used: 0, limit: null },
      modelMs: 0,
    },
    stop: stopSentence({ status: 'stopped', outcome }),
  };
}

const child = (agent: string, status: TraceChild['status']): TraceChild => ({
  agent,
  status,
  steps: status === 'paused' ? 1 : 3,
  tokens: 12_430,
  cost: 0.0312,
});

/** Agents behind calls: ended, running, waiting, and one with a long name. */
const members = [
  { call: 'research', agent: 'researcher', state: 'ok', status: 'completed' },
  { call: 'write', agent: 'writer', state: 'running', status: 'processing' },
  { call: 'file', agent: 'clerk', state: 'waiting', status: 'paused' },
  {
    call: 'look_into',
    agent: `an-agent-${'with-a-long-name-'.repeat(3)}`,
    state: 'error',
    status: 'stopped',
  },
] as const;

/** A run whose calls run agents. */
export function familyTrace(count: number = 4): Trace {
  const all = Array.from({ length: Math.ceil(count / members.length) }, () => members).flat();
  const calls = all.slice(0, count).map(({ call: name, state }, i) => ({
    name,
    ms: 900 + 400 * (i % 4),
    state,
  }));
  const trace = traceWith({
    steps: [{ modelMs: 1400, calls, type: 'running' }],
    status: 'processing',
  });
  const steps = trace.steps.map((step) => ({
    ...step,
    bars: step.bars.map((bar, i) => {
      const of = all[i - 1];
      return of ? { ...bar, callId: `call_${i}`, child: child(of.agent, of.status) } : bar;
    }),
  }));
  return { ...trace, steps };
}

/** The trace of an agent two calls below the session's own. */
export function nestedTrace(run: RunSpec = designRun): Trace {
  const trace = traceWith(run);
  const { status, outcome } = trace;
  const pendingApprovals = status === 'paused' ? [{ tool: 'file', callId: 'c1' }] : [];
  const stop = stopSentence({ status, outcome, pendingApprovals, isNested: true });
  return { ...trace, agent: 'reader', stop, nested };
}

const nested: NonNullable<Trace['nested']> = {
  agentId: 'agent_2',
  callId: 'call_9',
  above: [
    { agent: 'partner-assistant', callId: null, step: 2 },
    { agent: 'researcher', callId: 'call_1', step: 12 },
  ],
};
