import {
  AgentBuilder,
  defineTool,
  type AgentState,
  type ErrorType,
  type Grants,
  type Tool,
} from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { statusFacts } from '../../src/agent/agent-status.ts';
import { stopSentence, type StopFacts } from '../../src/trace/index.ts';

const failing = (name: string, type: ErrorType = 'tool'): Tool =>
  defineTool({
    name,
    description: 'Fails.',
    parameters: { type: 'object' },
    ...(type === 'timeout' && { timeoutMs: 5 }),
    execute: () =>
      type === 'timeout' ? new Promise(() => {}) : Promise.reject(new Error('no lead')),
  });

/** An agent with a tool that works, one that fails and one that times out. */
export const with_ = (...script: readonly ScenarioStep[]): AgentBuilder =>
  AgentBuilder.base()
    .withDriver(DeterministicDriver.fromSteps(...script))
    .withTools(mockTool('search', 'hit'), failing('create_lead'), failing('enrich', 'timeout'));

export interface Sentence {
  readonly text: string;
  readonly note: string | null;
  readonly button: string | null;
  readonly grant: Grants | string | null;
}

/** The sentence as a server or console gets it, after serialization. */
export function sentence(state: AgentState, more: Partial<StopFacts> = {}): Sentence {
  const { status, stopReason, lastContinuationOutcome } = state;
  const said = stopSentence({
    status: statusFacts(status, stopReason).broadcast,
    outcome: JSON.parse(JSON.stringify(lastContinuationOutcome)),
    pause: state.pause,
    pendingApprovals: state.pendingApprovals,
    ...more,
  });
  if (!said) throw new Error('nothing to say');
  const { lead, because, note, action, explanation } = said;
  if (explanation.headline !== `${lead} ${because}.`) throw new Error('the parts differ');
  return {
    text: [explanation.headline, explanation.actions[0]?.text ?? ''].filter(Boolean).join(' '),
    note,
    button: action?.label ?? null,
    grant: action?.kind === 'grant' ? action.grant : (action?.kind ?? null),
  };
}
