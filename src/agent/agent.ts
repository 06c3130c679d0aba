import { isoTime, syncSystemClock } from '../clock.ts';
import { checkedGrant } from '../continuation/grants.ts';
import { AgentError } from '../errors/agent-error.ts';
import type { ErrorPolicyJSON } from '../errors/error-policy.ts';
import type { AgentEvent, AgentEventType, EventListener, EventOf } from '../events/agent-event.ts';
import { createEventBus, type EventBus } from '../events/event-bus.ts';
import { Message } from '../messages/message.ts';
import type { Tool } from '../tools/tool.ts';
import { begin, end, perform, takeStep } from './agent-loop.ts';
import { defineAgent, type AgentDefinition, type AgentOptions } from './agent-options.ts';
import { AgentState, type AgentStateJSON } from './agent-state.ts';
import { isOpen } from './agent-status.ts';
import { checkApprovals } from './approvals.ts';
import { closeStep, settle, verdict } from './judge-step.ts';
import { agentAsTool, checkAgentName, type AsToolOptions } from './nested-agent.ts';
import { keepIds, reopen, startExecution, takeUp } from './open-run.ts';
import { handover, eventStream } from './run-streams.ts';
import { Run, type ResumeOptions, type RunOptions } from './run.ts';
import { StepDraft } from './step-draft.ts';

/** A state, its JSON, or the text of a first message. */
export type RunInput = AgentState | AgentStateJSON | string;

/** Events as they happen; leaving the loop aborts the run, and `result` still resolves. */
export interface AgentStream extends AsyncIterable<AgentEvent> {
  readonly result: Promise<AgentState>;
}

export interface AgentDescription {
  readonly name: string;
  readonly driver: string;
  readonly systemPrompt: string | null;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly needsApproval: boolean;
    readonly idempotent: boolean;
    readonly timeoutMs: number | null;
  }[];
  readonly limits: Readonly<Record<string, number>>;
  readonly criteria: readonly string[];
  readonly errorPolicy: ErrorPolicyJSON;
  readonly hooks: readonly string[];
  readonly softLanding: { readonly tokens: number; readonly seconds: number } | null;
}

export interface Agent {
  readonly name: string;
  /** Works on a new user message until the criteria end it; rejects only on misuse. */
  run(input: RunInput, options?: RunOptions): Promise<AgentState>;
  /** Goes on with a paused or interrupted execution, or reopens an ended one with a grant. */
  resume(state: AgentState | AgentStateJSON, options?: ResumeOptions): Promise<AgentState>;
  /** The state after each step; leaving early pauses, and the last state can be resumed. */
  iterate(input: RunInput, options?: RunOptions): AsyncGenerator<AgentState, void, undefined>;
  stream(input: RunInput, options?: RunOptions): AgentStream;
  /** One step, for driving by hand. */
  nextStep(input: RunInput, options?: RunOptions): Promise<AgentState>;
  /** Whether `nextStep` has something to do; reads the stored verdict. */
  hasNextStep(state: AgentState | AgentStateJSON): boolean;
  /** Ends an open execution as `user_requested`; an ended one is returned as it is. */
  stop(
    state: AgentState | AgentStateJSON,
    options?: RunOptions & { readonly reason?: string },
  ): AgentState;
  on<T extends AgentEventType>(type: T, listener: EventListener<EventOf<T>>): () => void;
  wiretap(listener: EventListener): () => void;
  asTool(options: AsToolOptions): Tool;
  describe(): AgentDescription;
}

export function createAgent(options: AgentOptions): Agent {
  const definition = defineAgent(options);
  const bus = createEventBus();
  const starting = (input: RunInput, given: RunOptions): Run =>
    openNew(definition, bus, input, given);

  return Object.freeze({
    name: definition.name,
    run: async (input: RunInput, given: RunOptions = {}) => perform(starting(input, given), false),

    async resume(input: AgentState | AgentStateJSON, given: ResumeOptions = {}) {
      const run = await openResumed(definition, bus, input, given);
      return perform(run, true);
    },

    async *iterate(input: RunInput, given: RunOptions = {}) {
      const run = starting(input, given);
      yield* handover(run, (afterStep) => perform(run, false, afterStep));
    },

    stream: (input: RunInput, given: RunOptions = {}) =>
      eventStream(given, async (listening) => perform(starting(input, listening), false)),

    async nextStep(input: RunInput, given: RunOptions = {}) {
      const state = stateOf(input, definition);
      const isNew = !isOpen(state.status);
      if (state.status === 'paused') throw openExecution(state, 'nextStep');
      const run = isNew ? starting(state, given) : new Run(definition, bus, state, given);
      if (!isNew) continueByHand(run);
      try {
        if (isNew) begin(run, false);
        if (run.state.status === 'in_progress') await takeStep(run);
      } finally {
        run.dispose();
      }
      if (run.state.status === 'in_progress') keepIds(run);
      else end(run);
      return run.state;
    },

    hasNextStep(input: AgentState | AgentStateJSON) {
      const state = AgentState.from(input);
      if (state.status === 'pending') return state.messages.last()?.isUser() === true;
      return state.status === 'in_progress';
    },

    stop: (
      input: AgentState | AgentStateJSON,
      given: RunOptions & { readonly reason?: string } = {},
    ) => stopOpen(definition, bus, AgentState.from(input), given),

    on: bus.on,
    wiretap: bus.wiretap,
    asTool: (given: AsToolOptions) => agentAsTool({ definition, bus }, given),
    describe: () => describe(definition),
  });
}

function stateOf(input: RunInput, { clock }: AgentDefinition): AgentState {
  if (typeof input !== 'string') return AgentState.from(input);
  syncSystemClock();
  const now = clock.now();
  const message = Message.trusted({ role: 'user', content: input, createdAt: isoTime(now) });
  return AgentState.empty({ now }).withMessages(message);
}

function openNew(
  definition: AgentDefinition,
  bus: EventBus,
  input: RunInput,
  options: RunOptions,
): Run {
  const state = stateOf(input, definition);
  checkAgentName(definition, state);
  if (isOpen(state.status)) throw openExecution(state, 'run');
  if (state.status !== 'pending' || !state.messages.last()?.isUser())
    throw new AgentError(
      'no_new_message',
      `run() needs a new user message, and this state is ${state.status} with ${
        state.messages.length === 0
          ? 'no messages'
          : `a last message of role ${state.messages.last()?.role}`
      }. Add one with state.withUserMessage(...); to go on with the ended execution, resume(state, { grant }).`,
    );
  const run = new Run(definition, bus, state, options);
  startExecution(run, options.executionId);
  return run;
}

async function openResumed(
  definition: AgentDefinition,
  bus: EventBus,
  input: AgentState | AgentStateJSON,
  options: ResumeOptions,
): Promise<Run> {
  const state = AgentState.from(input);
  checkAgentName(definition, state);
  const { executionId, approvals = {}, grant } = options;
  if (executionId !== undefined && executionId !== state.execution.id)
    throw new AgentError(
      'invalid_option',
      `resume() got executionId "${executionId}", and this state is in execution "${state.execution.id}". Leave it out.`,
    );
  const run = new Run(definition, bus, state, options);
  if (isOpen(state.status)) {
    await checkApprovals(definition, state, approvals);
    takeUp(run, grant === undefined ? grant : checkedGrant(grant));
    return run;
  }
  const [callId] = Object.keys(approvals);
  if (callId !== undefined)
    throw new AgentError(
      'not_resumable',
      `This execution is ${state.status}, so the answer for ${callId} comes too late: nothing was run.`,
      { details: { status: state.status, missing: [] } },
    );
  reopen(run, grant);
  return run;
}

/** Between calls of `nextStep` the wall clock runs on; a restored state starts it anew. */
function continueByHand(run: Run): void {
  checkAgentName(run.agent, run.state);
  const { executionStartedAt, execution } = run.state;
  takeUp(run);
  if (executionStartedAt !== null)
    run.state = run.state.with({
      executionStartedAt,
      execution: { ...run.state.execution, stretchSeconds: execution.stretchSeconds },
    });
}

function stopOpen(
  definition: AgentDefinition,
  bus: EventBus,
  state: AgentState,
  options: RunOptions & { readonly reason?: string },
): AgentState {
  checkAgentName(definition, state);
  if (!isOpen(state.status)) return state;
  const run = new Run(definition, bus, state, options);
  const { executionStartedAt } = state;
  takeUp(run);
  run.state = run.state.with({ executionStartedAt });
  const reason = run.redactor.text(options.reason ?? 'a stop was requested');
  run.cancellation.cancel({ by: 'user', reason });
  const { unfinishedStep } = state;
  if (unfinishedStep)
    closeStep(
      run,
      StepDraft.reopened(run, unfinishedStep, (json) => AgentState.from(json as never)),
    ); // our own JSON
  else {
    const outcome = verdict(run, run.now());
    settle(run, outcome, null, null);
    if (run.events.wants('ContinuationEvaluated'))
      run.events.emit('ContinuationEvaluated', { stepNumber: run.state.stepCount, outcome });
  }
  run.dispose();
  end(run);
  return run.state;
}

const openExecution = (state: AgentState, method: string): AgentError =>
  new AgentError(
    'execution_open',
    `${method}() got a state whose execution is ${state.status}. Go on with it with resume(state${
      state.pendingApprovals.length > 0 ? ', { approvals }' : ''
    }), or end it with stop(state).`,
    { details: { status: state.status, executionId: state.execution.id } },
  );

function describe(definition: AgentDefinition): AgentDescription {
  const { name, driver, systemPrompt, tools, criteria, errorPolicy, hookNames } = definition;
  const limits = criteria.list.flatMap((c) => (c.limit === undefined ? [] : [[c.name, c.limit]]));
  return {
    name,
    driver: driver.name,
    systemPrompt,
    tools: Array.from(tools.values(), (tool) => ({
      name: tool.name,
      description: tool.description,
      needsApproval: tool.needsApproval !== null,
      idempotent: tool.idempotent,
      timeoutMs: Number.isFinite(tool.timeoutMs) ? tool.timeoutMs : null,
    })),
    limits: Object.fromEntries(limits) as Record<string, number>,
    criteria: criteria.list.map((c) => c.name),
    errorPolicy: errorPolicy.toJSON(),
    hooks: hookNames,
    softLanding: definition.landingReserve,
  };
}
