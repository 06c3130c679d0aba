import { AgentError, show } from '../errors/agent-error.ts';
import type { AgentEvent, AgentEventType } from '../events/agent-event.ts';
import { own, type JsonValue } from '../json.ts';
import type { OwnerOptions } from '../sessions/session-options.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import { wireEvaluation } from './wire-evaluation.ts';

export type RefField = 'content' | 'args' | 'schema' | 'result' | 'evaluations' | 'last_response';

/** Fields that a ref can fetch, and the event field that has the value. */
const sources: Readonly<Record<RefField, Partial<Record<AgentEventType, string>>>> = {
  content: { MessageAdded: 'content' },
  args: { ToolCallStarted: 'args', ToolApprovalRequested: 'args', ToolCallCompleted: 'args' },
  schema: { ToolInputRequested: 'schema' },
  result: { ToolCallCompleted: 'result' },
  evaluations: { ContinuationEvaluated: 'outcome' },
  last_response: { AgentFinished: 'outputText', AgentFailed: 'outputText' },
};

/** Seq and field come first, because an execution id may contain any character. */
export const refOf = (executionId: string, seq: number, field: RefField): string =>
  `${seq}.${field}.${executionId}`;

const SUMMARY = 'summary:';

/** Returns the ref of the text of a summary, which does not depend on the log. */
export const summaryRef = (compactionId: string): string => `${SUMMARY}${compactionId}`;

/** Reads the whole value of a truncated field from the log of the session. */
export async function readRef(
  runtime: SessionRuntime,
  sessionId: string,
  ref: string,
  { owner }: OwnerOptions,
): Promise<JsonValue> {
  if (typeof ref === 'string' && ref.startsWith(SUMMARY))
    return readSummary(runtime, sessionId, ref, owner);
  const match = /^([1-9]\d{0,14})\.([a-z_]+)\.(.{1,200})$/s.exec(ref);
  const [, place = '', field = '', executionId = ''] = match ?? [];
  if (!match || !Object.hasOwn(sources, field)) throw badRef(ref);
  const seq = Number(place);
  const page = await runtime.events(sessionId, {
    owner,
    executionId,
    after: seq - 1,
    limit: 1,
  });
  const found = page.events.find((entry) => entry.seq === seq);
  const value = found && valueIn(found.event, field as RefField);
  if (value === undefined) throw unknownRef(sessionId, ref);
  return value;
}

function valueIn(event: AgentEvent, field: RefField): JsonValue | undefined {
  const name = own<string>(sources[field], event.type);
  if (name === undefined) return undefined;
  if (event.type === 'ContinuationEvaluated')
    return event.outcome.evaluations.map(wireEvaluation) as unknown as JsonValue;
  return (event as unknown as Record<string, JsonValue>)[name]; // logged events are JSON
}

/** Most pages of compactions that are searched for a summary, newest first. */
const MAX_PAGES = 100;

async function readSummary(
  runtime: SessionRuntime,
  sessionId: string,
  ref: string,
  owner: string,
): Promise<JsonValue> {
  const id = ref.slice(SUMMARY.length);
  let before: number | null | undefined;
  for (let pages = 0; pages < MAX_PAGES && before !== null; pages++) {
    const range = { owner, limit: 50, ...(before !== undefined && { before }) };
    const page = await runtime.compactions(sessionId, range);
    const text = page.items.find((compaction) => compaction.id === id)?.text;
    if (text !== undefined) return text;
    ({ before } = page);
  }
  throw unknownRef(sessionId, ref);
}

const badRef = (ref: unknown): AgentError =>
  new AgentError(
    'invalid_option',
    `ref got ${show(ref)}, expected the unchanged "ref" of an envelope.`,
    { details: { option: 'ref' } },
  );

const unknownRef = (sessionId: string, ref: string): AgentError =>
  new AgentError(
    'ref_not_found',
    `The log of session ${show(sessionId)} has no value for ref ${show(ref)}: it belongs to another session, or it was pruned. ` +
      'Read the conversation with messages() instead.',
    { details: { sessionId } },
  );
