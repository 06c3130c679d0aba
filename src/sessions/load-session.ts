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
import type { MessageJSON } from '../messages/message.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import type { AgentFrame } from './commit-batch.ts';
import type { RowReader } from './row-reader.ts';
import type { AgentRow, CallRow, MessageRow, SessionRow } from './session-rows.ts';
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

/** How much of a session is read: its newest messages and, if it continues, all of its last execution. */
export interface HistoryWindow {
  readonly maxMessages: number;
  /** Most characters of JSON of those messages. */
  readonly maxCharacters: number;
  /** Whether to read all of an ended execution too, because it is going to be reopened. Default false. */
  readonly wholeExecution?: boolean;
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
    { state, seed, pending = [], forkedFrom }: StateHeader,
    counts: Counts,
    agents: readonly AgentRow[],
    callId: string | null,
  ): Promise<{ readonly json: AgentStateJSON; readonly frame: AgentFrame }> {
    const { messages, offset } = seed
      ? { messages: seed, offset: 0 }
      : await this.#messages(key, state, counts);
    const steps = (await this.#steps(key, state, counts)).map((step) =>
      step.executionId === forkedFrom ? { ...step, executionId: state.execution.id } : step,
    );
    const placement: Placement = { messages: offset, steps: counts.stepCount - steps.length };
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
      steps,
      unfinishedStep,
      lastContinuationOutcome: state.lastContinuationOutcome ?? lastOutcome(state, steps),
    };
    const frame: AgentFrame = {
      callId,
      placement,
      messages: counts.messageCount,
      steps: counts.stepCount,
      stored: { messages: counts.messageCount, steps: counts.stepCount },
      isMidStep: unfinishedStep !== null,
      saved: null,
    };
    return { json, frame };
  }

  /** Reads the newest messages, with the user message that began their turn. Never separates a call from its result. */
  async #messages(
    key: string,
    { execution, status }: StateHeader['state'],
    { messageCount }: Counts,
  ): Promise<{ readonly messages: readonly MessageJSON[]; readonly offset: number }> {
    const newest = Math.max(0, messageCount - this.#window.maxMessages);
    const first = this.#needsAll(status) ? execution.firstMessage : messageCount;
    const from = Math.min(newest, first);
    const rows = await this.#fitting(await this.#rowsFrom(key, from), first);
    const start = rows[0]?.position ?? from;
    const before = start === 0 ? [] : await this.#leading(key, start, rows[0]);
    const messages = await this.#reader.values<MessageJSON>([...before, ...rows]);
    return { messages, offset: start - before.length };
  }

  /** Reads rows from a position, starting with the first that is not a result of an earlier call. */
  async #rowsFrom(key: string, from: number): Promise<readonly MessageRow[]> {
    const rows = await this.#reader.store.messages(this.#sessionId, key, { from });
    if (from === 0 || rows.length === 0) return rows;
    const first = rows.findIndex(({ role }) => role !== 'tool');
    return first === -1
      ? this.#rowsFrom(key, Math.max(0, from - this.#window.maxMessages))
      : rows.slice(first);
  }

  /**
   * Returns the newest rows that fit into the window, at least all from `first` on. Never separates a call from its
   * result.
   */
  async #fitting(rows: readonly MessageRow[], first: number): Promise<readonly MessageRow[]> {
    const fits = await this.#reader.countFitting(rows.toReversed(), this.#window.maxCharacters);
    if (fits === rows.length) return rows;
    const needed = rows.findIndex(({ position }) => position >= first);
    const start = Math.min(rows.length - fits, needed === -1 ? rows.length : needed);
    const next = rows.findIndex(({ role }, i) => i >= start && role !== 'tool');
    if (next !== -1) return rows.slice(next);
    return rows.slice(rows.findLastIndex(({ role }, i) => i < start && role !== 'tool'));
  }

  #needsAll(status: AgentStatus): boolean {
    return this.#window.wholeExecution === true || isOpen(status);
  }

  async #leading(
    key: string,
    before: number,
    first: MessageRow | undefined,
  ): Promise<readonly MessageRow[]> {
    const { store } = this.#reader;
    const system = await store.messages(this.#sessionId, key, { before, role: 'system' });
    if (first?.role === 'user') return system;
    const turn = await store.messages(this.#sessionId, key, { before, role: 'user', limit: 1 });
    return [...system, ...turn].toSorted((a, b) => a.position - b.position);
  }

  /** Reads all steps of an open execution, or the last step of an ended one, which has its outcome. */
  async #steps(
    key: string,
    { execution, status }: StateHeader['state'],
    { stepCount }: Counts,
  ): Promise<readonly AgentStepJSON[]> {
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
