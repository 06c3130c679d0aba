import type { Clock } from '../clock.ts';
import type { GrantLimit } from '../continuation/grant-allowance.ts';
import { AgentError } from '../errors/agent-error.ts';
import type { Redactor } from '../errors/redactor.ts';
import type { JsonSchema } from '../tools/schema.ts';
import type { AnyAgent } from './agent.ts';
import type { AgentDefinition } from './agent-options.ts';
import { createAgent, partsOf } from './agent.ts';
import { perform } from './agent-loop.ts';
import type { AgentState } from './agent-state.ts';
import type { Answers, GivenAnswer } from './approval-answer.ts';
import { boundAnswer, type BoundAnswer } from './approvals.ts';
import { openIdle, openNew, openResumed, stopOpen, type StopOptions } from './enter-run.ts';
import { familyRedactor } from './family-redactor.ts';
import type { Journal } from './journal.ts';
import type { DurableOptions, ResumeOptions } from './run.ts';

type WithJournal = DurableOptions & { readonly journal: Journal };

/** An agent as a session drives it: the same loop, with a journal. */
export interface DurableAgent {
  readonly name: string;
  readonly redactor: Redactor;
  /** Also hides what the agents among its tools hide. */
  readonly familyRedactor: Redactor;
  /** What the model is told besides the conversation: kept once per session. */
  readonly definition: { readonly systemPrompt: string | null; readonly tools: unknown };
  /** The JSON Schema of its answers; null for text. */
  readonly responseSchema: JsonSchema | null;
  /** What grants can raise. */
  readonly grantLimits: readonly GrantLimit[];
  run(state: AgentState, options: WithJournal): Promise<AgentState>;
  resume(state: AgentState, options: WithJournal): Promise<AgentState>;
  /** Begins an execution and does no work on it; the caller writes it down. Runs no hook. */
  open(state: AgentState, options: WithJournal): AgentState;
  /** Ends an open execution; the caller ends the journal. Runs no hook. */
  stop(state: AgentState, options: WithJournal & StopOptions): AgentState;
  /** Rejects as `resume` would, and changes nothing; the answers as they are bound to their calls. */
  checkResume(state: AgentState, options: ResumeOptions): Promise<Answers>;
  /** The same for an answer to one call; null where the state has no such call to answer. */
  checkAnswer(state: AgentState, callId: string, answer: GivenAnswer): Promise<BoundAnswer | null>;
}

/** Undefined for what `createAgent` did not make. */
export function durableAgent(agent: AnyAgent): DurableAgent | undefined {
  const parts = partsOf(agent);
  if (!parts) return undefined;
  const { definition, bus } = parts;
  const { name, redactor, systemPrompt, toolSchemas: tools } = definition;
  return {
    name,
    redactor,
    familyRedactor: familyRedactor(definition),
    definition: { systemPrompt, tools },
    responseSchema: definition.response?.format.schema ?? null,
    grantLimits: grantLimitsOf(definition),
    run: async (state, options) => perform(openNew(definition, bus, state, options), false),
    resume: async (state, options) =>
      perform(await openResumed(definition, bus, state, options), true),
    open: (state, options) => openIdle(definition, bus, state, options),
    stop: (state, options) => stopOpen(definition, bus, state, options),
    async checkResume(state, options) {
      const run = await openResumed(definition, bus, state, options);
      run.dispose();
      return run.answers;
    },
    checkAnswer: (state, callId, answer) => boundAnswer(definition, state, callId, answer),
  };
}

/** Ends executions of an agent that this process does not have. */
export function standInFor(name: string, clock: Clock): DurableAgent {
  const driver = {
    name: 'none',
    infer: () => Promise.reject(new AgentError('driver_missing', `Agent "${name}" is not here.`)),
  };
  return durableAgent(createAgent({ name, driver, clock })) as DurableAgent; // made right here
}

const grantLimitsOf = ({ criteria, errorPolicy }: AgentDefinition): readonly GrantLimit[] => [
  ...criteria.list.flatMap(({ name: criterion, grant: kind, limit: base }) =>
    kind === undefined || base === undefined ? [] : [{ criterion, kind, base }],
  ),
  { criterion: 'ErrorPolicyCriterion', kind: 'retries', base: errorPolicy.maxRetries },
];
