import type { ErrorPolicyJSON } from '../errors/error-policy.ts';
import type { AgentEvent, AgentEventType, EventListener, EventOf } from '../events/agent-event.ts';
import { createEventBus, type EventBus } from '../events/event-bus.ts';
import type { Tool } from '../tools/tool.ts';
import { judgeStart, perform, takeStep } from './agent-loop.ts';
import { defineAgent, type AgentDefinition, type AgentOptions } from './agent-options.ts';
import { AgentState, type AgentStateJSON } from './agent-state.ts';
import { announceStart, end } from './announce-run.ts';
import { isOpen } from './agent-status.ts';
import {
  continueByHand,
  openExecution,
  openNew,
  openResumed,
  stateOf,
  stopOpen,
  type RunInput,
} from './enter-run.ts';
import { agentAsTool, type AsToolOptions } from './nested-agent.ts';
import { keepForNextStep } from './open-run.ts';
import { handover, eventStream } from './run-streams.ts';
import { Run, type ResumeOptions, type RunOptions } from './run.ts';

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
  /** Ends an open execution as `user_requested`; an ended one is returned as it is. `by` is kept with the request. */
  stop(
    state: AgentState | AgentStateJSON,
    options?: RunOptions & { readonly reason?: string; readonly by?: string },
  ): AgentState;
  on<T extends AgentEventType>(type: T, listener: EventListener<EventOf<T>>): () => void;
  wiretap(listener: EventListener): () => void;
  asTool(options: AsToolOptions): Tool;
  describe(): AgentDescription;
}

/** What an agent is made of, for the rooms above. */
export interface AgentParts {
  readonly definition: AgentDefinition;
  readonly bus: EventBus;
}
const parts = new WeakMap<Agent, AgentParts>();
export const partsOf = (agent: Agent): AgentParts | undefined => parts.get(agent);

/** The agent that these options describe; {@link AgentBuilder} is the fluent spelling. Misuse throws here, not in a run. */
export function createAgent(options: AgentOptions): Agent {
  const definition = defineAgent(options);
  const bus = createEventBus();
  const starting = (input: RunInput, given: RunOptions): Run =>
    openNew(definition, bus, input, given);

  const agent: Agent = Object.freeze({
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
        if (isNew) {
          announceStart(run, false);
          judgeStart(run, false);
        }
        if (run.state.status === 'in_progress') await takeStep(run);
      } finally {
        run.dispose();
      }
      if (run.state.status === 'in_progress') keepForNextStep(run);
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
      given: RunOptions & { readonly reason?: string; readonly by?: string } = {},
    ) => stopOpen(definition, bus, AgentState.from(input), given),

    on: bus.on,
    wiretap: bus.wiretap,
    asTool: (given: AsToolOptions) => agentAsTool({ definition, bus }, given),
    describe: () => describe(definition),
  });
  parts.set(agent, { definition, bus });
  return agent;
}

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
