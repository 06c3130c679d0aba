import { endingOf, isEnding, type EndingEvent } from '../broadcasting/use-chat/use-chat-ending.ts';
import type { OnwardStop } from '../broadcasting/use-chat/use-chat-chunk.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import { toJsonValue, type JsonObject } from '../json.ts';
import type { FeedWorker } from '../sessions/feed/live-source.ts';
import { AG_UI_VERSION, type AgUiEvent, type AgUiOutcome, type AgUiUsage } from './ag-ui-event.ts';
import { AgentParts } from './agent-parts.ts';
import { interruptsOf } from './interrupts.ts';

type Events = readonly AgUiEvent[];

/** A nested agent that the client knows. */
interface Nested {
  readonly parts: AgentParts;
  readonly agentId: string;
  /** Id for the client: an agent that continues in the same run needs another one. */
  runId: string;
  count: number;
  isOpen: boolean;
}

export interface RunEventsOptions {
  readonly threadId: string;
  readonly runId: string;
  readonly executionId: string;
  /** The client's own state. */
  readonly state: JsonObject;
  readonly includeReasoning: boolean;
  /** How the last run of a thread ended that is only shown; absent for a run that is followed. */
  readonly rest?: JsonObject | null;
}

/** Converts the events of one execution, nested agents included, to one run of an AG-UI client. */
export class RunEvents {
  readonly #options: RunEventsOptions;
  readonly #root: AgentParts;
  readonly #nested: Map<string, Nested> = new Map();
  /** How the run stops, unless it continues. */
  #ending: EndingEvent | null = null;
  #facts: JsonObject;

  constructor(options: RunEventsOptions) {
    this.#options = options;
    this.#root = new AgentParts(options.executionId, options.includeReasoning);
    this.#facts = options.rest ?? {
      status: options.rest === null ? 'idle' : 'processing',
      execution_id: options.executionId,
      step_count: 0,
    };
  }

  begin(): Events {
    const { threadId, runId, state } = this.#options;
    const snapshot = { ...state, onward: this.#facts };
    return [
      { type: 'RUN_STARTED', threadId, runId, protocolVersion: AG_UI_VERSION },
      { type: 'STATE_SNAPSHOT', snapshot },
    ];
  }

  /** Forgets what was sent of nested agents: each run of a client names them anew. */
  renew(): void {
    for (const one of this.#nested.values()) {
      one.isOpen = false;
      one.count = 0;
    }
  }

  push(event: AgentEvent | FeedWorker): Events {
    if (event.type === 'worker') {
      const value = { status: event.isLost ? 'lost' : 'found' };
      return [{ type: 'CUSTOM', name: 'onward.worker', value }];
    }
    if (event.parentAgentId !== null) return this.#pushNested(event);
    if (event.type === 'AgentStarted' && this.#ending) {
      this.#ending = null;
      return [...this.#root.push(event), ...this.#update({ status: 'processing' })];
    }
    const events = this.#root.push(event);
    if (event.type === 'AgentStepStarted')
      return [...events, ...this.#update({ step_count: event.stepNumber - 1 })];
    if (!isEnding(event)) return events;
    this.#ending = event;
    const isPause = event.type === 'AgentPaused';
    const { stop } = endingOf(event, null);
    return [...events, ...this.#endNested(isPause), ...this.#update({ ...factsOf(stop) })];
  }

  /** Ends the run after its last event. */
  close(): Events {
    const { threadId, runId } = this.#options;
    const ending = this.#ending;
    const head = { threadId, runId } as const;
    if (!ending)
      return [
        ...this.#endNested(true),
        ...this.#root.close(),
        { type: 'RUN_FINISHED', ...head, ...this.#atRest() },
      ];
    const { stop } = endingOf(ending, null);
    const usage = usageOf(ending);
    if (stop.status === 'failed')
      return [
        { type: 'RUN_ERROR', message: stop.message, code: stop.stop_reason ?? 'failed', ...usage },
      ];
    const outcome = this.#outcomeOf(ending, stop);
    const result = outcome.type === 'success' &&
      ending.type === 'AgentFinished' && {
        result: { text: ending.outputText, ...factsOf(stop) },
      };
    return [{ type: 'RUN_FINISHED', ...head, outcome, ...result, ...usage }];
  }

  /** How a thread that is only shown stands: showing it has succeeded, however its last run ended. */
  #atRest(): { readonly outcome: AgUiOutcome; readonly result?: JsonObject } {
    const { rest } = this.#options;
    const outcome = { type: rest?.['status'] === 'cancelled' ? 'cancelled' : 'success' } as const;
    return rest ? { outcome, result: rest } : { outcome };
  }

  /** Ends the run although it may continue: it can no longer be followed. */
  fail(message: string): Events {
    return [{ type: 'RUN_ERROR', message, code: 'not_followed' }];
  }

  #outcomeOf(ending: EndingEvent, stop: OnwardStop): AgUiOutcome {
    if (ending.type === 'AgentPaused') {
      const interrupts = interruptsOf(ending, stop.message, (callId) => this.#wireOf(callId));
      return { type: 'interrupt', interrupts };
    }
    return { type: stop.status === 'cancelled' ? 'cancelled' : 'success' };
  }

  /** Finds the agent of a call; a call that was never shown has no id for the client. */
  #wireOf(callId: string): { readonly toolCallId?: string; readonly subagentRunId?: string } {
    if (this.#root.has(callId)) return { toolCallId: this.#root.wireId(callId) };
    const one = [...this.#nested.values()].findLast(({ parts }) => parts.has(callId));
    return one ? { toolCallId: one.parts.wireId(callId), subagentRunId: one.runId } : {};
  }

  #pushNested(event: AgentEvent): Events {
    const { agentId } = event;
    const known = this.#nested.get(agentId);
    const one = known ?? {
      parts: new AgentParts(agentId, this.#options.includeReasoning),
      agentId,
      runId: agentId,
      count: 0,
      isOpen: false,
    };
    this.#nested.set(agentId, one);
    const begin = one.isOpen ? [] : [this.#startNested(one, event)];
    const { runId: subagentRunId } = one;
    const events = one.parts.push(event).map((each) => ({ ...each, subagentRunId }));
    return [...begin, ...events, ...this.#endingOfNested(one, event)];
  }

  #startNested(one: Nested, event: AgentEvent): AgUiEvent {
    one.count += 1;
    one.isOpen = true;
    one.runId = one.count === 1 ? one.agentId : `${one.agentId}:${one.count}`;
    const parent = this.#nested.get(event.parentAgentId ?? '');
    const calls = (parent?.parts ?? this.#root).openCalls;
    const [parentToolCallId] = calls.length === 1 ? calls : [];
    return {
      type: 'SUBAGENT_STARTED',
      subagentRunId: one.runId,
      name: event.type === 'AgentStarted' ? event.agentName : 'agent',
      ...(parent && { parentSubagentRunId: parent.runId }),
      ...(parentToolCallId !== undefined && { parentToolCallId }),
    };
  }

  #endingOfNested(one: Nested, event: AgentEvent): Events {
    const { runId: subagentRunId } = one;
    if (event.type === 'AgentFailed') {
      one.isOpen = false;
      const { stop } = endingOf(event, null);
      const code = stop.stop_reason ?? 'failed';
      return [{ type: 'SUBAGENT_ERROR', subagentRunId, message: stop.message, code }];
    }
    const isPause = event.type === 'AgentPaused' && event.kind !== 'handover';
    if (event.type !== 'AgentFinished' && !isPause) return [];
    one.isOpen = false;
    const outcome = { type: isPause ? 'suspended' : 'success' } as const;
    return [{ type: 'SUBAGENT_FINISHED', subagentRunId, outcome }];
  }

  /** Ends the nested agents that did not report their own end. */
  #endNested(isPause: boolean): Events {
    return [...this.#nested.values()]
      .filter(({ isOpen }) => isOpen)
      .toReversed()
      .flatMap((one): Events => {
        const { runId: subagentRunId, parts } = one;
        one.isOpen = false;
        const left = parts.close().map((each) => ({ ...each, subagentRunId }));
        if (isPause)
          return [
            ...left,
            { type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'suspended' } },
          ];
        const message = 'The run ended before this agent.';
        return [...left, { type: 'SUBAGENT_ERROR', subagentRunId, message, code: 'ended' }];
      });
  }

  #update(facts: JsonObject): Events {
    this.#facts = { ...this.#facts, ...facts };
    return [
      {
        type: 'STATE_DELTA',
        delta: [{ op: 'replace', path: '/onward', value: this.#facts }],
      },
    ];
  }
}

/** How a run stands, as clients get it in the state. */
const factsOf = (stop: OnwardStop): JsonObject => {
  const { status, stop_reason, message, resolved_by, step_count, remedy, explanation } = stop;
  return {
    status,
    stop_reason,
    message,
    resolved_by,
    step_count,
    remedy: toJsonValue(remedy),
    ...(explanation && { explanation: toJsonValue(explanation) }),
  };
};

function usageOf(ending: EndingEvent): { readonly usage?: readonly AgUiUsage[] } {
  if (ending.type === 'AgentPaused') return {};
  const { input: inputTokens, output: outputTokens, total: totalTokens } = ending.usage;
  return { usage: [{ inputTokens, outputTokens, totalTokens }] };
}
