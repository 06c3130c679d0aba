import { AgentState, type AgentStateJSON, type AgentStepJSON } from '../agent/agent-state.ts';
import { isOpen, type AgentStatus } from '../agent/agent-status.ts';
import type { Answers, GivenAnswer } from '../agent/approval-answer.ts';
import {
  addSpending,
  noSpending,
  since,
  spendingOf,
  type Spending,
} from '../agent/family-shares.ts';
import { unansweredIn, type InputGiven, type InputsGiven } from '../agent/open-inputs.ts';
import { addShares } from '../continuation/family-share.ts';
import { addCost, addUsage } from '../inference/usage.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import type { AgentFrame } from './commit-batch.ts';
import type { RowReader } from './row-reader.ts';
import { loadConversation, newConversation, type HistoryWindow } from './load-conversation.ts';
import type { AgentRow, CallRow, SessionRow } from './session-rows.ts';
import type { StateHeader, Placement } from './state-rows.ts';

/** The parts of a session that a worker needs. */
export interface LoadedSession {
  readonly head: StateHeader;
  readonly state: AgentState;
  readonly frame: AgentFrame;
  readonly nestedFrames: Map<string, AgentFrame>;
  /** Answers of approvers that were not carried out yet, or not completely. */
  readonly answers: Answers;
  /** Answers to questions of tools that were not taken yet. */
  readonly inputs: InputsGiven;
  /** Calls that were started and whose end is unknown. */
  readonly lostCalls: Set<string>;
}

export async function loadSession(
  reader: RowReader,
  row: SessionRow,
  window: HistoryWindow,
): Promise<LoadedSession> {
  const head = await reader.head(row.head);
  const loading = new Loading(reader, row, window);
  const agents = head.state.unfinishedStep
    ? await reader.store.agents(row.id, head.state.execution.id)
    : [];
  const { json, frame } = await loading.agent('', head, row, agents, null);
  return {
    head,
    state: AgentState.from(json),
    frame,
    nestedFrames: loading.nestedFrames,
    answers: loading.answers,
    inputs: loading.inputs,
    lostCalls: loading.lostCalls,
  };
}

interface Counts {
  readonly messageCount: number;
  readonly stepCount: number;
}

class Loading {
  readonly nestedFrames: Map<string, AgentFrame> = new Map();
  readonly answers: Map<string, GivenAnswer> = new Map();
  readonly inputs: Map<string, InputGiven> = new Map();
  readonly lostCalls: Set<string> = new Set();
  readonly #reader: RowReader;
  readonly #sessionId: string;
  readonly #window: HistoryWindow;

  constructor(reader: RowReader, { id }: SessionRow, window: HistoryWindow) {
    this.#reader = reader;
    this.#sessionId = id;
    this.#window = window;
  }

  /** Loads one agent with the agents that run inside its open calls. */
  async agent(
    key: string,
    { state, seed, pending = [], forkedFrom, compactions: made = 0, request }: StateHeader,
    counts: Counts,
    agents: readonly AgentRow[],
    callId: string | null,
  ): Promise<{ readonly json: AgentStateJSON; readonly frame: AgentFrame }> {
    const { messages, compactions, offset, leading } =
      seed || counts.messageCount === 0
        ? newConversation(seed ?? [])
        : await loadConversation(this.#reader, this.#window, {
            sessionId: this.#sessionId,
            agentId: key,
            messageCount: counts.messageCount,
            compactionCount: made,
            firstNeeded: this.#needsAll(state.status)
              ? state.execution.firstMessage
              : counts.messageCount,
          });
    const steps = (await this.#steps(key, state, counts)).map((step) =>
      step.executionId === forkedFrom ? { ...step, executionId: state.execution.id } : step,
    );
    const placement: Placement = {
      messages: offset,
      steps: counts.stepCount - steps.length,
      compactions: made - compactions.length,
      leading,
    };
    const { execution, info } = state;
    const { unfinishedStep, late } = await this.#unfinished(state, agents);
    const firstMessage = Math.max(0, execution.firstMessage - offset);
    const json: AgentStateJSON = {
      ...state,
      execution: {
        ...execution,
        ...withAccount(execution, late),
        ...(late.shares.length > 0 && { family: addShares(execution.family, late.shares) }),
        firstMessage,
      },
      info: { ...info, ...withAccount(info, late) },
      messages: [...messages, ...pending],
      ...(compactions.length > 0 && { compactions }),
      steps,
      unfinishedStep,
      lastContinuationOutcome: state.lastContinuationOutcome ?? lastOutcome(state, steps),
    };
    const stored = { messages: counts.messageCount, steps: counts.stepCount, compactions: made };
    const frame: AgentFrame = {
      callId,
      loadedAs: key,
      placement,
      ...stored,
      stored,
      isMidStep: unfinishedStep !== null,
      sent: null,
      keptRequest: request ?? null,
      saved: null,
    };
    return { json, frame };
  }

  #needsAll(status: AgentStatus): boolean {
    return this.#window.wholeExecution === true || isOpen(status);
  }

  /** Reads all steps of an open execution, or the last step of an ended one, which has its outcome. */
  async #steps(
    key: string,
    { execution, status }: StateHeader['state'],
    { stepCount }: Counts,
  ): Promise<readonly AgentStepJSON[]> {
    if (stepCount === 0) return [];
    const range = this.#needsAll(status)
      ? { from: Math.max(0, stepCount - execution.stepCount) }
      : { from: Math.max(0, stepCount - 1) };
    const rows = await this.#reader.store.steps(this.#sessionId, key, range);
    return this.#reader.values<AgentStepJSON>(rows);
  }

  /**
   * Restores calls from the ledger: results, answers, and starts without an end. `late` is the usage of nested agents
   * whose results are only in the ledger; no totals include it yet.
   */
  async #unfinished(
    { unfinishedStep, execution }: StateHeader['state'],
    agents: readonly AgentRow[],
  ): Promise<{
    readonly unfinishedStep: AgentStateJSON['unfinishedStep'];
    readonly late: Spending;
  }> {
    let late = noSpending;
    if (!unfinishedStep) return { unfinishedStep: null, late };
    const { toolCalls, inputs = [] } = unfinishedStep;
    const asked = new Set(inputs.flatMap(unansweredIn).map((question) => question.inputId));
    const rows = await this.#reader.store.calls(this.#sessionId, execution.id, {
      callIds: [...toolCalls.map(({ id }) => id), ...asked.keys()],
    });
    const known = new Map(unfinishedStep.results.map((result) => [result.callId, result]));
    // a call that waits for input was started, and is not lost
    const asks = new Set(inputs.flatMap((open) => (open.isRunning ? [] : [open.callId])));
    const isUnanswered = (callId: string): boolean =>
      toolCalls.some(({ id }) => id === callId) && !known.has(callId);
    const open = agents.filter(({ callId }) => isUnanswered(callId));
    for (const row of rows)
      if (asked.has(row.callId)) await this.#takeInput(row);
      else if (!known.has(row.callId)) await this.#takeCall(row, known);
    for (const callId of asks) this.lostCalls.delete(callId);
    const children = new Map<string, AgentStateJSON>();
    const accounts = new Map(Object.entries(unfinishedStep.childAccounts ?? {}));
    for (const row of open) {
      const head = await this.#reader.head(row.head);
      const before = accounts.get(row.callId) ?? noSpending;
      accounts.set(row.callId, before);
      if (!isUnanswered(row.callId)) {
        late = addSpending(late, since(spendingOf(head.state), before));
        accounts.delete(row.callId);
        continue;
      }
      this.lostCalls.delete(row.callId);
      const child = await this.agent(row.agentId, head, row, agents, row.callId);
      children.set(row.callId, child.json);
      this.nestedFrames.set(row.callId, child.frame);
    }
    const results = toolCalls.flatMap(({ id }) => known.get(id) ?? []);
    const account = withAccount(unfinishedStep, late);
    return {
      unfinishedStep: {
        ...unfinishedStep,
        ...account,
        ...(late !== noSpending && {
          modelUsage: unfinishedStep.modelUsage ?? unfinishedStep.usage,
          family: addShares(unfinishedStep.family, late.shares),
        }),
        results,
        children: Object.fromEntries(children),
        childAccounts: Object.fromEntries(accounts),
      },
      late,
    };
  }

  async #takeInput({ callId, answer }: CallRow): Promise<void> {
    if (answer === null) return;
    const [given] = await this.#reader.values<InputGiven>([{ body: answer }]);
    if (given) this.inputs.set(callId, given);
  }

  async #takeCall(row: CallRow, known: Map<string, ToolResult>): Promise<void> {
    if (row.state === 'committed' && row.result !== null) {
      const [result] = await this.#reader.values<ToolResult>([{ body: row.result }]);
      if (result) known.set(row.callId, result);
      return;
    }
    if (row.state === 'started') this.lostCalls.add(row.callId);
    if (row.answer === null || row.state === 'waiting') return;
    const [answer] = await this.#reader.values<GivenAnswer>([{ body: row.answer }]);
    if (answer) this.answers.set(row.callId, answer);
  }
}

type Account = Pick<Spending, 'usage' | 'cost'>;

const withAccount = ({ usage, cost }: Account, more: Account): Account => ({
  usage: addUsage(usage, more.usage),
  cost: addCost(cost, more.cost),
});

const lastOutcome = (
  { status }: StateHeader['state'],
  steps: readonly AgentStepJSON[],
): AgentStepJSON['outcome'] => (status === 'in_progress' ? (steps.at(-1)?.outcome ?? null) : null);
