import type { AgentStepJSON } from '../../agent/agent-state.ts';
import type { InferenceRequest } from '../../inference/inference-driver.ts';
import type { Message, MessageJSON } from '../../messages/message.ts';
import { invalidOption } from '../../errors/agent-error.ts';
import type { Redactor } from '../../errors/redactor.ts';
import { checkedPlace } from '../check-names.ts';
import { isImported } from '../imported-session.ts';
import { RowReader } from '../row-reader.ts';
import type { SessionLookup } from '../session-lookup.ts';
import type { SessionRow, StepRow } from '../session-rows.ts';
import type { ForkPoint, StateHeader } from '../state-rows.ts';
import { nestedKey, type OfAgentOptions } from '../step-marks.ts';
import { MissingPart, RequestBuilder } from './request-builder.ts';
import type { RequestFrame, StoredRequest } from './stored-request.ts';

export interface ModelCallOptions extends OfAgentOptions {
  /** Number of the step in its execution. */
  readonly step: number;
  /** Execution of the step. Default: the newest. Ignored for a nested agent, which has only one. */
  readonly executionId?: string;
  /** Whether to read the step and its answer only, without the request. Default false. */
  readonly bare?: boolean;
}

/**
 * Whether a request can be rebuilt: `pruned` if its step or a part of it was, or the session was imported, `not_recorded`
 * by an earlier release, `not_called` if the step called no model.
 */
export type RequestStatus = 'stored' | 'pruned' | 'not_recorded' | 'not_called';

/** How the model was called in one step, as the store has it: secrets and all, for server code. */
export interface StoredModelCall {
  readonly status: RequestStatus;
  /** Null if it was pruned, or does not exist. */
  readonly step: AgentStepJSON | null;
  /** The request as the driver got it; null unless `status` is `stored`. */
  readonly request: InferenceRequest | null;
  /** The compactions that its messages depend on, oldest first. */
  readonly compactions: BuiltCompactions;
  /** The messages that the step added, the answer of the model first. */
  readonly answer: readonly MessageJSON[];
  /** The call before it; null for the first one of the agent. */
  readonly previous: PreviousCall | null;
  /** Names of prompt and tools, which are equal if the parts are. */
  readonly frame: RequestFrame | null;
  readonly redactor: Redactor;
}

type BuiltCompactions = Awaited<ReturnType<RequestBuilder['messages']>>['compactions'];

export interface PreviousCall {
  readonly step: number;
  readonly executionId: string;
  /** Its messages; the same object stands for the same message. Null if it cannot be rebuilt. */
  readonly messages: Iterable<Message> | null;
  readonly frame: RequestFrame | null;
}

/** Reads how the model was called in one step. */
export async function readModelCall(
  lookup: SessionLookup,
  row: SessionRow,
  options: ModelCallOptions,
): Promise<StoredModelCall> {
  const number = checkedPlace('step', options.step);
  if (number < 1) throw invalidOption('step', number, 'a number from 1');
  const reader = new RowReader(lookup.store, row);
  const agentId = options.agentId === undefined ? '' : nestedKey(options.agentId);
  const redactor = agentId === '' ? lookup.redactorOf(row) : lookup.familyRedactorOf(row);
  const found = await new Finding(reader, row, agentId).step(number, options.executionId);
  const builder = new RequestBuilder(reader, row.id, agentId);
  const empty = { request: null, compactions: [], previous: null, frame: null, redactor } as const;
  const { step, stored, answer } = found;
  // an export has no requests
  const isLeftOut = found.status === 'not_recorded' && isImported(row);
  const status = isLeftOut ? 'pruned' : found.status;
  if (stored === null || options.bare) return { ...empty, status, step, answer };
  try {
    const { compactions } = await builder.messages(stored);
    const request = await builder.request(stored);
    const frame = await builder.frame(stored);
    const previous = await previousOf(builder, found);
    return { status: 'stored', step, request, compactions, answer, previous, frame, redactor };
  } catch (error) {
    if (error instanceof MissingPart) return { ...empty, status: 'pruned', step, answer };
    throw error;
  }
}

async function previousOf(builder: RequestBuilder, found: Found): Promise<PreviousCall | null> {
  if (found.before === null) return null;
  const { step, stored } = found.before;
  const named = { step: step.number, executionId: step.executionId };
  if (stored === null) return { ...named, messages: null, frame: null };
  try {
    const { messages } = await builder.messages(stored);
    return { ...named, messages, frame: await builder.frame(stored) };
  } catch (error) {
    if (error instanceof MissingPart) return { ...named, messages: null, frame: null };
    throw error;
  }
}

interface Found {
  readonly status: RequestStatus;
  readonly step: AgentStepJSON | null;
  readonly stored: StoredRequest | null;
  readonly answer: readonly MessageJSON[];
  readonly before: {
    readonly step: AgentStepJSON;
    readonly stored: StoredRequest | null;
  } | null;
}

const missing = (status: RequestStatus): Found => ({
  status,
  step: null,
  stored: null,
  answer: [],
  before: null,
});

/** Finds a step of one agent in the store. */
class Finding {
  readonly #reader: RowReader;
  readonly #row: SessionRow;
  readonly #agentId: string;

  constructor(reader: RowReader, row: SessionRow, agentId: string) {
    this.#reader = reader;
    this.#row = row;
    this.#agentId = agentId;
  }

  async step(number: number, executionId: string | undefined): Promise<Found> {
    const head = await this.#head(executionId);
    const first = await this.#firstPosition(head, executionId);
    if (first === null) return missing('pruned');
    const position = first + number - 1;
    const [before, row] = await this.#rowsAt(position);
    const unfinished = head?.state.unfinishedStep ?? null;
    if (row) return this.#found(row, before, null);
    if (unfinished?.number === number && head)
      return this.#found(null, before, { head, step: unfinished });
    const isBehind = head === null || number > head.state.execution.stepCount;
    return missing(isBehind ? 'not_called' : 'pruned');
  }

  /** The state of the agent, if the step may be its current one. */
  async #head(executionId: string | undefined): Promise<StateHeader | null> {
    if (this.#agentId === '') {
      const head = await this.#reader.head(this.#row.head);
      const isCurrent = executionId === undefined || executionId === head.state.execution.id;
      return isCurrent ? head : null;
    }
    const within = executionId ?? this.#row.executionId ?? '';
    const agents = await this.#reader.store.agents(this.#row.id, within);
    const agent = agents.find(({ agentId }) => agentId === this.#agentId);
    return agent ? this.#reader.head(agent.head) : null;
  }

  async #firstPosition(
    head: StateHeader | null,
    executionId: string | undefined,
  ): Promise<number | null> {
    if (this.#agentId !== '') return 0;
    if (head) return this.#row.stepCount - head.state.execution.stepCount;
    const [newest] = await this.#reader.store.steps(this.#row.id, '', {
      executionId: executionId ?? '',
      limit: 1,
    });
    if (!newest) return null;
    const [step] = await this.#reader.values<AgentStepJSON>([newest]);
    return newest.position + 1 - (step?.number ?? 1);
  }

  async #rowsAt(position: number): Promise<readonly [StepRow | undefined, StepRow | undefined]> {
    const range = { from: Math.max(0, position - 1), before: position + 1 };
    const rows = await this.#reader.store.steps(this.#row.id, this.#agentId, range);
    const at = (place: number): StepRow | undefined =>
      rows.find((found) => found.position === place);
    return [at(position - 1), at(position)];
  }

  async #found(
    row: StepRow | null,
    before: StepRow | undefined,
    open: { readonly head: StateHeader; readonly step: AgentStepJSON } | null,
  ): Promise<Found> {
    const [step] = row ? await this.#reader.values<AgentStepJSON>([row]) : [open?.step];
    const [mark] = row ? await this.#reader.values<ForkPoint>([{ body: row.mark }]) : [];
    const kept = open?.head.request;
    const stored = mark?.request ?? (kept?.step === step?.id ? kept?.request : null) ?? null;
    const known = before ? await this.#before(before) : null;
    const answer = open?.head.pending ?? (await this.#answer(step, known?.messages, mark));
    return {
      status: stored === null ? unknown(step) : 'stored',
      step: step ?? null,
      stored,
      answer,
      before: known,
    };
  }

  async #before(row: StepRow): Promise<NonNullable<Found['before']> & { messages: number }> {
    const [step] = await this.#reader.values<AgentStepJSON>([row]);
    const [mark] = await this.#reader.values<ForkPoint>([{ body: row.mark }]);
    const stored = mark?.request ?? null;
    return { step: step as AgentStepJSON, stored, messages: mark?.messages ?? 0 }; // one value per row
  }

  /** The messages that a finished step added. A user message before them belongs to the execution. */
  async #answer(
    step: AgentStepJSON | undefined,
    from: number | undefined,
    mark: ForkPoint | undefined,
  ): Promise<readonly MessageJSON[]> {
    const count = step?.messageIds.length ?? 0;
    if (mark === undefined || count === 0) return [];
    const range = { from: Math.max(from ?? 0, mark.messages - count), before: mark.messages };
    const rows = await this.#reader.store.messages(this.#row.id, this.#agentId, range);
    return this.#reader.values<MessageJSON>(rows);
  }
}

/** Why a step has no record of a request. */
function unknown(step: AgentStepJSON | undefined): RequestStatus {
  const isUnsent =
    step?.errors.some(({ code }) => code === 'prepare_failed') ||
    (step?.type === 'cut' && step.messageIds.length === 0);
  return isUnsent ? 'not_called' : 'not_recorded';
}
