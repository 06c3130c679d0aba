import type { Clock } from '../clock.ts';
import type { GrantLimit } from '../continuation/grant-allowance.ts';
import { AgentError } from '../errors/agent-error.ts';
import type { Redactor } from '../errors/redactor.ts';
import type { JsonSchema } from '../tools/schema.ts';
import type { ToolSchema } from '../tools/tool.ts';
import type { AnyAgent } from './agent.ts';
import type { AgentDefinition } from './agent-options.ts';
import { createAgent, partsOf } from './agent.ts';
import type { AgentState } from './agent-state.ts';
import type { Answers, GivenAnswer } from './approval-answer.ts';
import { holdCapabilities } from './close-capabilities.ts';
import type { BoundAnswer } from './approvals.ts';
import { openIdle, openNew, openResumed, stopOpen, type StopOptions } from './enter-run.ts';
import { familyRedactor } from './family-redactor.ts';
import type { Journal } from './journal.ts';
import type { DurableOptions, ResumeOptions } from './run-options.ts';
import { performObserved } from './perform-observed.ts';
import { onDemand } from '../on-demand.ts';

type WithJournal = DurableOptions & { readonly journal: Journal };

/** An agent that a session runs: the same loop, with a journal. */
export interface DurableAgent {
  readonly name: string;
  /** Id of its first model. */
  readonly model: string;
  readonly redactor: Redactor;
  /** Redactor of the agent and all its nested agents. */
  readonly familyRedactor: Redactor;
  /** System prompt and tools, which a session stores once. */
  readonly definition: Pick<AgentDefinition, 'systemPrompt'> & {
    readonly tools: readonly ToolSchema[];
  };
  /** The JSON Schema of its answers; null for text. */
  readonly responseSchema: JsonSchema | null;
  /** Whether it compacts long conversations, and thus decides itself what the model is sent. */
  readonly compacts: boolean;
  /** Keeps the connections of the agent; the returned function closes those that nothing else keeps. */
  hold(): () => Promise<void>;
  /** Trace context of the caller, stored with what a session is asked to do; absent without one. */
  trace(): { readonly traceparent?: string };
  /** Limits that grants can raise. */
  readonly grantLimits: readonly GrantLimit[];
  run(state: AgentState, options: WithJournal): Promise<AgentState>;
  resume(state: AgentState, options: WithJournal): Promise<AgentState>;
  /** Starts an execution without running a step; the caller saves it. Runs no hook. */
  open(state: AgentState, options: WithJournal): AgentState;
  /** Ends an open execution; the caller ends the journal. Runs no hook. */
  stop(state: AgentState, options: WithJournal & StopOptions): AgentState;
  /** Rejects like `resume` without changing anything; resolves with the answers bound to their calls. */
  checkResume(state: AgentState, options: ResumeOptions): Promise<Answers>;
  /** Checks the answer to one call; resolves with null if the state has no such open call. */
  checkAnswer(state: AgentState, callId: string, answer: GivenAnswer): Promise<BoundAnswer | null>;
}

/** Returns undefined for an agent that `createAgent` did not create. */
export function durableAgent(agent: AnyAgent): DurableAgent | undefined {
  const parts = partsOf(agent);
  if (!parts) return undefined;
  const { definition, bus } = parts;
  const { name, redactor, systemPrompt, toolSchemas: tools } = definition;
  return {
    name,
    model: definition.models[0].id,
    redactor,
    familyRedactor: familyRedactor(definition),
    definition: { systemPrompt, tools },
    responseSchema: definition.response?.format.schema ?? null,
    compacts: definition.compaction !== null,
    hold: () => holdCapabilities(definition),
    trace() {
      const traceparent = definition.observer?.traceparent() ?? null;
      return traceparent === null ? {} : { traceparent };
    },
    grantLimits: grantLimitsOf(definition),
    run: async (state, options) => performObserved(openNew(definition, bus, state, options), false),
    resume: async (state, options) =>
      performObserved(await openResumed(definition, bus, state, options), true),
    open: (state, options) => openIdle(definition, bus, state, options),
    stop: (state, options) => stopOpen(definition, bus, state, options),
    async checkResume(state, options) {
      const run = await openResumed(definition, bus, state, options);
      run.dispose();
      return run.answers;
    },
    async checkAnswer(state, callId, answer) {
      const { boundAnswer } = await onDemand(import('./approvals.ts'));
      return boundAnswer(definition, state, callId, answer);
    },
  };
}

/** Creates a placeholder that can end executions of an agent that this process does not have. */
export function placeholderFor(name: string, clock: Clock): DurableAgent {
  const driver = {
    name: 'none',
    infer: () =>
      Promise.reject(new AgentError('driver_missing', `This process has no agent "${name}".`)),
  };
  return durableAgent(createAgent({ name, driver, clock })) as DurableAgent; // created here, so never undefined
}

/** The larger count, so that the grant that an explanation offers is within the cap. */
const mostRetries = ({ maxRetries }: AgentDefinition['errorPolicy']): number =>
  typeof maxRetries === 'number' ? maxRetries : Math.max(maxRetries.model, maxRetries.tool);

const grantLimitsOf = ({ criteria, errorPolicy }: AgentDefinition): readonly GrantLimit[] => [
  ...criteria.list.flatMap(({ name: criterion, grant: kind, limit: base }) =>
    kind === undefined || base === undefined ? [] : [{ criterion, kind, base }],
  ),
  { criterion: 'ErrorPolicyCriterion', kind: 'retries', base: mostRetries(errorPolicy) },
];
