import { invalidOption } from '../errors/agent-error.ts';
import type { AgentEventType, EventListener, EventOf } from '../events/agent-event.ts';
import { createEventBus, type EventBus } from '../events/event-bus.ts';
import type { Grants } from '../continuation/grants.ts';
import { isRecord } from '../json.ts';
import type { AnySchema } from '../tools/schema.ts';
import type { AllOf, AnyTool, Call, CallsOf, DepsOf, Tool } from '../tools/tool.ts';
import { judgeStart, takeStep } from './agent-loop.ts';
import type { AgentDefinition, AgentOptions, Answer } from './agent-options.ts';
import { AgentState, type AgentStateJSON } from './agent-state.ts';
import { announceStart, end } from './announce-run.ts';
import { isOpen } from './agent-status.ts';
import { closeCapabilities } from './close-capabilities.ts';
import type { OptionStyle } from './check-options.ts';
import { defineAgent } from './define-agent.ts';
import {
  continueByHand,
  openExecution,
  openNew,
  openResumed,
  stateOf,
  stopOpen,
  type RunInput,
  type StopOptions,
} from './enter-run.ts';
import { describeAgent, type AgentDescription } from './describe-agent.ts';
import type { AnyCapability } from './hooks.ts';
import type { Approvals } from './approval-answer.ts';
import { agentAsTool, type AgentArgs, type AsToolOptions } from './nested-agent.ts';
import { keepForNextStep } from './open-run.ts';
import { restoreState } from './restore-state.ts';
import { handover } from './iterate-run.ts';
import { performObserved } from './perform-observed.ts';
import { observed } from './run-observer.ts';
import type { RunStream } from './run-stream.ts';
import { isResume, streamRun } from './stream-run.ts';
import { Run } from './run.ts';
import type { DurableOptions, ResumeOptions, RunOptions, WithDeps } from './run-options.ts';

/** Input of `stream` that continues an execution. */
export interface ResumeInput {
  readonly resume: AgentState | AgentStateJSON;
  readonly approvals?: Approvals;
  readonly grant?: Grants;
  /** Who gives the grant and the answers. Stored with them. */
  readonly by?: string;
}

/** Any agent, with any dependencies and output. Runtimes, servers and registries accept it. */
export interface AnyAgent {
  readonly name: string;
  describe(): AgentDescription;
  /** For types only, like all names with `~`; never set. */
  readonly '~needs'?: ((deps: never) => void) | undefined;
  readonly '~output'?: unknown;
  readonly '~call'?: Call | undefined;
}

/** The dependencies that an agent needs. */
export type AgentDeps<A extends AnyAgent> = DepsOf<A>;
/** Output type of an agent. */
export type AgentOutput<A extends AnyAgent> = A extends {
  readonly '~output'?: (infer Output) | undefined;
}
  ? Output
  : unknown;

/**
 * An agent that needs `Deps` and returns `Output`. Write `Agent<{ crm: Crm }, Invoice>`; the other parameters are
 * inferred.
 */
export interface Agent<
  Deps = {},
  Output = unknown,
  Name extends string = string,
  C extends Call = Call,
> extends AnyAgent {
  readonly '~needs'?: ((deps: Deps) => void) | undefined;
  readonly '~output'?: Output | undefined;
  readonly '~call'?: C | undefined;
  readonly name: Name;
  /** Processes a new user message until the criteria end the run. Rejects only on misuse. */
  run(
    input: RunInput,
    ...options: WithDeps<RunOptions<C['tool']>, Deps>
  ): Promise<AgentState<Output>>;
  /** Continues a paused or interrupted execution, or reopens an ended one with a grant. */
  resume(
    state: AgentState | AgentStateJSON,
    ...options: WithDeps<ResumeOptions<C['tool']>, Deps>
  ): Promise<AgentState<Output>>;
  /** Yields the state after each step. Leaving the loop early pauses the run; you can resume the last state. */
  iterate(
    input: RunInput,
    ...options: WithDeps<RunOptions<C['tool']>, Deps>
  ): AsyncGenerator<AgentState<Output>, void, undefined>;
  /** Streams a run or a resume. Aborts it when the last reader leaves early; `state` still resolves. */
  stream(
    input: RunInput | ResumeInput,
    ...options: WithDeps<RunOptions<C['tool']>, Deps>
  ): RunStream<Output, C>;
  /** Runs one step, to drive the loop manually. */
  nextStep(
    input: RunInput,
    ...options: WithDeps<RunOptions<C['tool']>, Deps>
  ): Promise<AgentState<Output>>;
  /** Whether `nextStep` has work to do, by the stored status. */
  hasNextStep(state: AgentState | AgentStateJSON): boolean;
  /** Ends an open execution as `user_requested`; returns an ended one unchanged. `by` is stored with the request. */
  stop(
    state: AgentState | AgentStateJSON,
    options?: Pick<RunOptions, 'wiretap'> & {
      readonly reason?: string;
      readonly by?: string;
      readonly deps?: Deps;
    },
  ): AgentState<Output>;
  /** Revives a stored state of this agent and validates `output` again. Rejects states of other agents. */
  restore(json: unknown): Promise<AgentState<Output>>;
  /** Returns this agent with its dependencies bound, for code that is generic over agents and for tests. */
  withDeps(deps: Deps): Agent<{}, Output, Name, C>;
  on<T extends AgentEventType>(type: T, listener: EventListener<EventOf<T>>): () => void;
  wiretap(listener: EventListener): () => void;
  /** Closes the connections of its capabilities, such as MCP servers. A later run opens them again. */
  close(): Promise<void>;
  /** Returns this agent as a tool of another agent, which then needs the same dependencies. */
  asTool<const N extends string>(options: AsToolOptions<N>): Tool<Deps, Call<N, AgentArgs, Output>>;
}

/** The internals of an agent, for other modules. */
export interface AgentParts {
  readonly definition: AgentDefinition;
  readonly bus: EventBus;
}
const parts = new WeakMap<AnyAgent, AgentParts>();
export const partsOf = (agent: AnyAgent): AgentParts | undefined => parts.get(agent);

/**
 * Creates an agent; {@link AgentBuilder} is the fluent form. Infers its dependencies, output and calls from its tools,
 * response format, hooks, criteria and capabilities. Throws on misuse, before any run.
 */
export function createAgent<
  const Name extends string = 'agent',
  const Tools extends readonly AnyTool[] = readonly [],
  const Format extends AnySchema | undefined = undefined,
  const HookDeps extends readonly unknown[] = readonly [],
  const CriterionDeps extends readonly unknown[] = readonly [],
  const Capabilities extends readonly AnyCapability[] = readonly [],
  PrepareDeps = unknown,
>(
  options: AgentOptions<Name, Tools, Format, HookDeps, CriterionDeps, Capabilities, PrepareDeps>,
): Agent<
  DepsOf<Tools[number] | Capabilities[number]> &
    AllOf<HookDeps> &
    AllOf<CriterionDeps> &
    AllOf<readonly [PrepareDeps]>,
  Answer<Format>,
  Name,
  CallsOf<Tools[number] | Capabilities[number]>
> {
  // the loop is untyped: the return type above is the contract
  return agentOf(options as unknown as AgentOptions) as never;
}

/** Creates an agent for the builder, whose errors name the builder methods. */
export const agentOf = (options: AgentOptions, style?: OptionStyle): Agent =>
  agentFrom(defineAgent(options, style), createEventBus());

/** Creates an agent from its internals. */
export function agentFrom(definition: AgentDefinition, bus: EventBus): Agent {
  const starting = (input: RunInput, given: DurableOptions): Run =>
    openNew(definition, bus, input, given);

  const agent = Object.freeze({
    name: definition.name,
    run: async (input: RunInput, given: DurableOptions = {}) =>
      performObserved(starting(input, given), false),

    async resume(input: AgentState | AgentStateJSON, given: DurableOptions = {}) {
      const run = await openResumed(definition, bus, input, given);
      return performObserved(run, true);
    },

    async *iterate(input: RunInput, given: DurableOptions = {}) {
      const run = starting(input, given);
      yield* handover(run, (afterStep) => performObserved(run, false, afterStep));
    },

    stream: (input: RunInput | ResumeInput, given: DurableOptions = {}) =>
      streamRun(definition, input, given, (options) =>
        isResume(input) ? agent.resume(input.resume, options) : agent.run(input, options),
      ),

    async nextStep(input: RunInput, given: DurableOptions = {}) {
      const state = stateOf(input, definition);
      const isNew = !isOpen(state.status);
      if (state.status === 'paused') throw openExecution(state, 'nextStep');
      const run = isNew ? starting(state, given) : new Run(definition, bus, state, given);
      if (!isNew) continueByHand(run);
      return observed(run, !isNew, async () => {
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
      });
    },

    hasNextStep(input: AgentState | AgentStateJSON) {
      const state = AgentState.from(input);
      if (state.status === 'pending') return state.messages.last()?.isUser() === true;
      return state.status === 'in_progress';
    },

    stop: (input: AgentState | AgentStateJSON, given: StopOptions = {}) =>
      stopOpen(definition, bus, AgentState.from(input), given),

    restore: (json: unknown) => restoreState(definition, json),
    withDeps: (deps: object) => agentFrom(bound(definition, deps), bus),

    close: () => closeCapabilities(definition),
    on: bus.on,
    wiretap: bus.wiretap,
    asTool: (given: AsToolOptions) => agentAsTool({ definition, bus }, given),
    describe: () => describeAgent(definition),
  }) as Agent; // checked at run time, not by types
  parts.set(agent, { definition, bus });
  return agent;
}

const bound = (definition: AgentDefinition, deps: object): AgentDefinition => {
  if (!isRecord(deps)) throw invalidOption('withDeps', deps, 'an object of dependencies');
  return Object.freeze({ ...definition, deps: { ...definition.deps, ...deps } });
};
