import type { Envelope, EnvelopeOf, EnvelopeType } from 'onward/broadcasting';

type Payloads = { readonly [T in EnvelopeType]: EnvelopeOf<T>['payload'] };

const evaluation = {
  criterion: 'StepsLimit',
  decision: 'forbid',
  reason: 'step 3 of 3',
  context: { used: 3, limit: 3 },
  remedy: null,
} as const;

/** One payload of every type, with text that a transport may damage. */
const payloads: Payloads = {
  'agent.status': { status: 'processing', previous_status: 'idle', step_count: 0 },
  'agent.message': {
    message_id: 'm1',
    role: 'user',
    content: 'Straße "…" \\ / 👩‍🚀\n\u2028',
    step: 0,
  },
  'agent.step.started': { step: 1, message_count: 1, available_tools: ['search', 'create_lead'] },
  'agent.stream.chunk': {
    message_id: 'm2',
    step: 1,
    attempt: 1,
    chunk_index: 0,
    content: 'Looking \ud83d\ude80 ',
    is_complete: false,
  },
  'agent.reasoning.chunk': { message_id: 'm', step: 1, attempt: 1, content: 'Hm', offset: 0 },
  'agent.stream.discarded': { step: 1, attempt: 1 },
  'agent.worker': { status: 'lost' },
  'agent.model.fallback': {
    step: 1,
    attempt: 1,
    from: 'openai:gpt-5',
    to: 'anthropic:claude',
    error_code: 'overloaded',
    reason: 'openai:gpt-5 was overloaded, continued with anthropic:claude',
  },
  'agent.context.compacted': {
    step: 2,
    kind: 'summary',
    reason: 'threshold',
    compaction_id: 'cmp_1',
    summary_ref: 'summary:cmp_1',
    messages: 182,
    tokens_before: 96_400,
    tokens_after: 1_249,
  },
  'agent.tool.delta': { tool_call_id: 'c1', args_delta: '{"name":"Zoë' },
  'agent.tool.started': {
    tool: 'search',
    tool_call_id: 'c1',
    args_summary: 'name: Zoë',
    args: { name: 'Zoë', deep: [{ a: null }] },
  },
  'agent.tool.progress': {
    tool: 'search',
    tool_call_id: 'c1',
    message: 'Seite 3 …',
    progress: 3,
    total: 10,
  },
  'agent.tool.completed': {
    tool: 'search',
    tool_call_id: 'c1',
    success: true,
    error: null,
    duration_ms: 12.5,
    result_summary: { summary: '[{"id":1', ref: 'x:3:result' },
  },
  'agent.approval.requested': {
    tool: 'create_lead',
    tool_call_id: 'c2',
    args: { email: 'zoe@example.com' },
    args_summary: 'email: zoe@example.com',
  },
  'agent.input.requested': {
    tool: 'delete_page',
    tool_call_id: 'call_1',
    input_id: 'call_1/sure',
    key: 'sure',
    message: 'Delete the page?',
    schema: { type: 'object', properties: { sure: { type: 'boolean' } } },
  },
  'agent.step.completed': {
    step: 1,
    has_tool_calls: true,
    errors: 0,
    finish_reason: 'tool_calls',
    usage: { input: 150, output: 50, total: 200 },
    duration_ms: 1250.5,
  },
  'agent.continuation': {
    step: 1,
    should_continue: false,
    stop_reason: 'steps_limit',
    resolved_by: 'StepsLimit',
    evaluations: [evaluation],
  },
};

export const sampleEnvelope = <T extends EnvelopeType>(
  type: T,
  payload: EnvelopeOf<T>['payload'],
  fields: Partial<EnvelopeOf<T>> = {},
): Envelope =>
  ({
    type,
    session_id: 's1',
    execution_id: 'x1',
    agent_id: 'a1',
    seq: 1,
    prev: null,
    timestamp: '2026-01-16T12:00:00.000Z',
    payload,
    ...fields,
  }) as Envelope;

export const everyEnvelope = (sessionId: string): readonly Envelope[] =>
  (Object.keys(payloads) as EnvelopeType[]).map((type, i) =>
    sampleEnvelope(type, payloads[type], {
      session_id: sessionId,
      ...(type === 'agent.tool.started' && { parent_agent_id: 'a0' }),
      seq: i + 1,
      prev: i === 0 ? null : i,
    }),
  );
