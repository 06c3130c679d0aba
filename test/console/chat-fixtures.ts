import type { ContinuationOutcomeJSON } from '../../src/continuation/outcome.ts';
import type { Envelope } from '../../src/broadcasting/envelope.ts';
import type { ChatViewProps, GrantState } from '../../src/console/contract.ts';
import type { JsonObject } from '../../src/json.ts';
import type { AgentSession } from '../../src/react/use-agent-session.ts';
import type { AgentInfo, SessionDetail } from '../../src/server/api.ts';
import type { StopSentence, Trace, TraceBar, TraceStep } from '../../src/trace/trace.ts';
import { newUiState } from '../../src/ui/reducer-state.ts';
import { reduceEnvelope } from '../../src/ui/reduce-envelope.ts';
import type { UiMessage } from '../../src/ui/ui-message.ts';
import type { UiState } from '../../src/ui/ui-state.ts';
import { Wire } from '../react/fake-source.ts';
import { grantStop } from './stop-sentences.ts';

/** Creates a wire that starts at a time. */
export function wireAt(at: string = '2026-01-16T14:04:00.000', executionId?: string): Wire {
  const wire = new Wire(executionId);
  wire.clock = Date.parse(at);
  return wire;
}

export const stateAfter = (
  envelopes: readonly Envelope[],
  history: readonly UiMessage[] = [],
): UiState => envelopes.reduce(reduceEnvelope, newUiState(history));

export const message = (
  id: string,
  role: UiMessage['role'],
  content: string,
  more: Partial<UiMessage> = {},
): UiMessage => ({
  id,
  role,
  content,
  timestamp: '2026-01-16T11:00:00.000',
  metadata: {},
  ...more,
});

export function bar(name: string, callId: string | null, more: Partial<TraceBar> = {}): TraceBar {
  return {
    kind: callId === null ? 'model' : 'tool',
    name,
    callId,
    at: 0,
    durationMs: 310,
    state: 'ok',
    error: null,
    retry: null,
    pausedMs: 0,
    answer: null,
    ...more,
  };
}

export function step(
  number: number,
  bars: readonly TraceBar[],
  more: Partial<TraceStep> = {},
): TraceStep {
  const hasTools = bars.some(({ kind }) => kind === 'tool');
  return {
    number,
    attempt: 1,
    type: hasTools ? 'tool_calls' : 'final',
    startedAt: '2026-01-16T14:04:00.000Z',
    at: 0,
    durationMs: 900,
    bars: [bar('model', null), ...bars],
    waitMs: 0,
    inputTokens: 900,
    outputTokens: 60,
    modelUsage: null,
    cost: 0.003,
    costSoFar: 0.003 * number,
    finishReason: hasTools ? 'tool_calls' : 'stop',
    softLanding: null,
    notes: [],
    outcome: null,
    ...more,
  };
}

export const outcome = (
  shouldContinue: boolean,
  reason: string,
  criterion = 'ErrorPolicyCriterion',
  context: JsonObject = {},
): ContinuationOutcomeJSON => ({
  decision: shouldContinue ? 'request' : 'forbid',
  shouldContinue,
  resolvedBy: criterion,
  stopReason: shouldContinue ? null : 'steps_limit',
  evaluations: [{ criterion, decision: 'allow', reason, context }],
});

export function traceOfSteps(
  status: Trace['status'],
  steps: readonly TraceStep[],
  more: Partial<Trace> = {},
): Trace {
  return {
    sessionId: 'ses_1',
    agent: 'partner-assistant',
    executionId: 'exe_1',
    status,
    executions: [],
    startedAt: '2026-01-16T14:04:00.000Z',
    totals: {
      steps: { used: steps.length, limit: 5 },
      seconds: { used: 4.6, limit: 120 },
      tokens: { used: 5_300, limit: 40_000 },
      cost: { used: 0.0153, limit: 0.1 },
      inputTokens: 5_000,
      outputTokens: 300,
      failedCalls: 0,
      modelMs: 3_000,
      toolMs: 1_600,
      backoffMs: 0,
      pausedMs: 0,
    },
    steps,
    hasEarlier: false,
    pauses: [],
    outcome: null,
    stop: null,
    grants: {},
    ...more,
  };
}

export const stepsStop: StopSentence = grantStop(
  'Stopped because',
  'it used 5 of 5 steps before the model read a tool result',
  { steps: 5 },
);

const agent: AgentInfo = {
  name: 'partner-assistant',
  title: 'Partner assistant',
  description: '',
  model: 'gpt-5',
  isDemo: false,
  tools: [],
  limits: { StepsLimit: 20 },
  suggestions: [],
};

export function detailOf(more: Partial<SessionDetail> = {}): SessionDetail {
  return {
    id: 'ses_1',
    agent: 'partner-assistant',
    status: 'paused',
    executionId: 'exe_1',
    createdAt: '',
    updatedAt: '',
    messageCount: 1,
    stepCount: 1,
    usage: { input: 0, output: 0, total: 0 },
    cost: null,
    info: {},
    pause: null,
    pendingApprovals: [],
    pendingInputs: [],
    stopReason: null,
    outcome: null,
    output: null,
    metadata: {},
    reason: '',
    stop: null,
    ...more,
  } as unknown as SessionDetail;
}

export function sessionOf(
  state: UiState,
  more: Partial<AgentSession> = {},
  asked: unknown[][] = [],
): AgentSession {
  const ask =
    (kind: string) =>
    (...args: unknown[]): Promise<boolean> => {
      asked.push([kind, ...args]);
      return Promise.resolve(true);
    };
  return {
    state,
    messages: state.messages,
    status: state.status,
    approvals: state.approvals,
    inputs: state.inputs ?? [],
    stop: state.stop,
    connection: 'live',
    error: null,
    actions: [],
    can: {
      send: true,
      approve: true,
      approveAll: true,
      deny: true,
      answer: true,
      stop: true,
      resume: true,
      retry: true,
    },
    allowance: null,
    refresh: () => undefined,
    send: ask('send'),
    approve: ask('approve'),
    approveAll: ask('approveAll'),
    denySome: ask('denySome'),
    canRemember: true,
    canAttach: true,
    deny: ask('deny'),
    answer: ask('answer'),
    stopRun: ask('stop'),
    resume: ask('resume'),
    retrySession: ask('retrySession'),
    retry: ask('retry'),
    dismiss: (id) => void ask('dismiss')(id),
    ...more,
  };
}

const ready: GrantState = { kind: 'ready' };

export function chatProps(
  session: AgentSession,
  more: Partial<ChatViewProps> = {},
  asked: unknown[][] = [],
): ChatViewProps {
  return {
    session,
    agent,
    detail: null,
    trace: null,
    fetchRef: async (ref) => ({ ref, rows: Array.from({ length: 40 }, (_, id) => ({ id })) }),
    onOpenStep: (number) => asked.push(['step', number]),
    onGrant: (grant) => asked.push(['grant', grant]),
    onResume: () => asked.push(['resume']),
    grantState: ready,
    ...more,
  };
}
