import type { CommitBatch, StagedEvent } from './commit-batch.ts';
import type { ExecutionWriter } from './execution-writer.ts';
import type { EventNote } from '../events/event-outlet.ts';
import type { AgentRow, EventRow, MessageRow, StepRow } from './session-rows.ts';
import type { CallWrite, Commit } from './session-store.ts';
import { logEntry, type OutcomePlace } from './event-log.ts';
import { headState, requirementOf, rowRole, type StateHeader } from './state-rows.ts';

/** A commit that lacks what is known only when it is sent: its revision, its time, its large values. */
export type CommitDraft = { -readonly [K in keyof Commit]: Commit[K] };

/** The rows of a batch. What the conversation needs comes first, so that the others can refer to its large values. */
export async function commitOf(
  batch: CommitBatch,
  writer: ExecutionWriter,
  later: readonly CommitBatch[] = [],
): Promise<CommitDraft> {
  const { rows, executionId, sessionId, token } = writer.options;
  const scopeOf = (callId: string | null): string => (callId === null ? '' : executionId);
  const keyOf = (frame: CommitBatch['messages'][number]['frame']): string =>
    frame.callId === null ? '' : (batch.states.get(frame)?.state.agentId ?? '');

  const messages: MessageRow[] = [];
  for (const { frame, position, message } of batch.messages) {
    const body = rows.body('message', message, scopeOf(frame.callId));
    messages.push({
      agentId: keyOf(frame),
      position,
      role: rowRole(message),
      body: typeof body === 'string' ? body : await body,
    });
  }
  const calls: CallWrite[] = [];
  for (const { callId, tool, state, again, result, isNested } of batch.calls) {
    const body = result && rows.body(`result of ${tool}`, result, isNested ? executionId : '');
    calls.push({
      executionId,
      callId,
      tool,
      state,
      again: again === true,
      result: typeof body === 'string' ? body : await body,
    });
  }
  const steps: StepRow[] = [];
  const outcomes = new Map<unknown, OutcomePlace>();
  for (const { frame, position, step, mark } of batch.steps) {
    const scope = scopeOf(frame.callId);
    outcomes.set(step.outcome, [keyOf(frame), position]);
    const body = rows.body('step', step, scope);
    const marked = rows.body('step', mark, scope);
    steps.push({
      agentId: keyOf(frame),
      position,
      executionId: step.executionId,
      body: typeof body === 'string' ? body : await body,
      mark: typeof marked === 'string' ? marked : await marked,
    });
  }
  const { root, agents } = batch.states.size === 0 ? noHeads : await heads(batch, writer, later);
  const told = batch.events.filter(({ seq }) => seq !== null);
  const last = told.at(-1)?.seq ?? null;
  const events: EventRow[] = [];
  if (last !== null) {
    const row = eventRow(told, last, writer, outcomes);
    events.push('then' in row ? await row : row);
  }

  const { done, end } = batch;
  const draft: CommitDraft = { sessionId, token, revision: 0, messages, steps, agents, calls };
  if (root) draft.root = root;
  if (events.length > 0) draft.events = events;
  if (events.length > 0 || done !== undefined) draft.seq = last ?? writer.options.seq;
  if (done !== undefined) draft.done = done;
  if (end !== undefined) draft.end = end;
  return draft;
}

/** Several as one, in order. */
export function joined(drafts: readonly CommitDraft[]): CommitDraft {
  const [first, ...rest] = drafts as [CommitDraft, ...CommitDraft[]]; // asked only with some
  for (const { messages, steps, agents, calls, events, ...more } of rest) {
    first.messages = both(first.messages, messages);
    first.steps = both(first.steps, steps);
    first.agents = both(first.agents, agents);
    first.calls = both(first.calls, calls);
    first.events = both(first.events, events);
    Object.assign(first, more);
  }
  return first;
}

const both = <T>(a: readonly T[] = [], b: readonly T[] = []): readonly T[] =>
  a.length === 0 ? b : b.length === 0 ? a : [...a, ...b];

const noHeads = { root: undefined, agents: [] } as const;

async function heads(
  batch: CommitBatch,
  writer: ExecutionWriter,
  later: readonly CommitBatch[],
): Promise<{ readonly root: Commit['root']; readonly agents: readonly AgentRow[] }> {
  const { rows, executionId, salt, title } = writer.options;
  let root: Commit['root'];
  const agents: AgentRow[] = [];
  for (const { frame, state, pending } of batch.states.values()) {
    // the same commit has a newer one
    if (later.some(({ states }) => states.has(frame))) continue;
    const isRoot = frame.callId === null;
    const value: { -readonly [K in keyof StateHeader]: StateHeader[K] } = {
      version: 1,
      salt,
      definition: isRoot ? (writer.definition ?? (await writer.keepDefinition())) : null,
      state: headState(state, frame.placement),
    };
    if (isRoot && title !== undefined) value.title = title;
    if (pending.length > 0) value.pending = pending;
    const body = rows.body('state', value, isRoot ? '' : executionId);
    const head = typeof body === 'string' ? body : await body;
    const counts = {
      messageCount: state.messages.length + frame.placement.messages,
      stepCount: state.steps.length + frame.placement.steps,
    };
    if (isRoot)
      root = { head, status: state.status, executionId, ...counts, ...requirementOf(state) };
    else
      agents.push({
        agentId: state.agentId,
        executionId,
        callId: frame.callId ?? '',
        head,
        ...counts,
      });
  }
  return { root, agents };
}

function eventRow(
  told: readonly StagedEvent[],
  seq: number,
  { options }: ExecutionWriter,
  outcomes: ReadonlyMap<unknown, OutcomePlace>,
): EventRow | Promise<EventRow> {
  const { rows, executionId, store } = options;
  const notes = told.map(({ note }) => note);
  const type = notes.at(-1)?.type ?? '';
  const bodyOf = (given: readonly EventNote[]): string | Promise<string> =>
    rows.body('event', logEntry(given, outcomes), executionId);
  const shortOf = (most: number): string | Promise<string> =>
    bodyOf(notes.map((note) => shortened(note, most)));
  /** What cannot be kept is left out and says so: a log must not end a run. */
  const shorter = async (): Promise<string> => {
    const most = store.maxBytes / (10 * notes.length);
    try {
      return await shortOf(most);
    } catch {
      return shortOf(Math.min(most, SHORT_CHARACTERS));
    }
  };
  const rowOf = (body: string): EventRow => ({ executionId, seq, type, body });
  let body: string | Promise<string>;
  try {
    body = bodyOf(notes);
  } catch {
    body = shorter();
  }
  return typeof body === 'string' ? rowOf(body) : body.catch(shorter).then(rowOf);
}

/** Fields of so many characters are kept in any log: ids, names, numbers. */
const SHORT_CHARACTERS = 200;
const TOO_LARGE = 'too large for the log';

/** The note with its large fields left out; each says so itself, and the others are as they were. */
const shortened = (note: EventNote, most: number): EventNote => {
  const short = Object.entries(note.fields).map(([name, value]: [string, unknown]) => {
    // an outcome is small, mostly a reference, and readers rely on it
    if (name === 'outcome' || lengthOf(value) <= most) return [name, value];
    return [name, typeof value === 'string' ? `(${TOO_LARGE})` : { omitted: TOO_LARGE }];
  });
  return { ...note, fields: Object.fromEntries(short) as EventNote['fields'] };
};

function lengthOf(value: unknown): number {
  try {
    return (JSON.stringify(value) ?? '').length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
