import type { Envelope, EnvelopePayloads, EnvelopeType, Refill } from '../broadcasting/envelope.ts';
import { isRecord } from '../json.ts';
import { isBounded } from './bounded.ts';
import {
  fieldsOf,
  isAmount,
  isCount,
  isExplanation,
  isGrant,
  isName,
  isRemedy,
  isStatus,
  isText,
  isToolFiles,
  isTextList,
  isTextOrTruncated,
  isUsage,
  isBoolean,
  may,
  maybe,
  must,
  orNull,
  readFields,
  type Field,
  type Fields,
} from './read-fields.ts';

const call = { tool: must(isName), tool_call_id: must(isName) };

/** Fields that the reducer reads of each payload. A field without a replacement value is required. */
const fields: {
  readonly [T in EnvelopeType]: { readonly [F in keyof EnvelopePayloads[T]]?: Field };
} = {
  'agent.status': {
    status: must(isStatus),
    previous_status: may(isStatus, 'idle'),
    step_count: may(isCount, 0),
    stop_reason: maybe(orNull(isName), null),
    stop_message: maybe(isText, ''),
    resolved_by: maybe(orNull(isName), null),
    remedy: maybe(orNull(isRemedy), null),
    error_message: maybe(orNull(isText), null),
    last_response: maybe(orNull(isTextOrTruncated), null),
    explanation: maybe(isExplanation, undefined),
    grant: maybe(isGrant, undefined),
  },
  'agent.message': {
    message_id: must(isName),
    role: must((role) => role === 'user' || role === 'assistant'),
    content: must(isTextOrTruncated),
    files: maybe(isToolFiles, undefined),
    step: may(isCount, 0),
    reasoning: maybe(isText, undefined),
  },
  'agent.step.started': { step: must(isCount) },
  'agent.step.completed': {
    step: must(isCount),
    has_tool_calls: may(isBoolean, false),
    usage: may(isUsage, { input: 0, output: 0, total: 0 }),
  },
  'agent.model.fallback': {
    step: must(isCount),
    attempt: may(isCount, 1),
    from: must(isName),
    to: must(isName),
    error_code: may(isName, ''),
    reason: may(isText, ''),
  },
  'agent.context.compacted': {
    compaction_id: must(isName),
    kind: must((kind) => kind === 'summary' || kind === 'tool_results'),
    messages: must(isAmount),
    tokens_before: must(isAmount),
    tokens_after: must(isAmount),
    summary_ref: maybe(isName, undefined),
  },
  'agent.tool.started': { ...call, args_summary: may(isText, ''), args: maybe(isBounded, null) },
  'agent.tool.progress': {
    ...call,
    message: maybe(isText, undefined),
    progress: maybe(isAmount, undefined),
    total: maybe(isAmount, undefined),
  },
  'agent.tool.completed': {
    ...call,
    success: must(isBoolean),
    error: may(orNull(isText), null),
    error_code: maybe(isName, undefined),
    duration_ms: may(isAmount, 0),
    result_summary: may(isTextOrTruncated, ''),
    files: maybe(isToolFiles, []),
    args_summary: maybe(isText, ''),
    args: maybe(isBounded, null),
  },
  'agent.approval.requested': {
    ...call,
    args: may(isBounded, null),
    args_hash: maybe(isName, ''),
    args_summary: may(isText, ''),
    hidden: maybe(isTextList, ['']),
  },
  'agent.input.requested': {
    ...call,
    input_id: must(isName),
    key: must(isName),
    message: must(isText),
    schema: maybe(isBounded, undefined),
    url: maybe(isText, undefined),
  },
  'agent.continuation': {},
  'agent.stream.chunk': {
    message_id: must(isName),
    step: must(isCount),
    attempt: must(isCount),
    chunk_index: must(isCount),
    content: must(isText),
    offset: maybe(isCount, undefined),
    restart: maybe(isCount, undefined),
  },
  'agent.reasoning.chunk': {
    message_id: must(isName),
    step: must(isCount),
    attempt: must(isCount),
    content: must(isText),
    offset: must(isCount),
    restart: maybe(isCount, undefined),
  },
  'agent.worker': { status: must((status) => status === 'lost' || status === 'found') },
  'agent.stream.discarded': { step: must(isCount), attempt: must(isCount) },
  'agent.tool.delta': {
    tool_call_id: must(isName),
    tool: maybe(isName, undefined),
    args_delta: must(isText),
    offset: maybe(isCount, undefined),
  },
};

const payloads: ReadonlyMap<string, Fields> = new Map(
  Object.entries(fields).map(([type, wanted]) => [type, fieldsOf(wanted)]),
);

export const envelopeTypes: readonly EnvelopeType[] = Object.keys(fields) as EnvelopeType[];

export const isEnvelopeType = (type: string): type is EnvelopeType => Object.hasOwn(fields, type);

/** An envelope that can be applied, and whether a part of it was invalid. */
export interface ReadEnvelope {
  readonly envelope: Envelope;
  readonly isWhole: boolean;
}

/** Types of newer servers. */
const LATER = /^agent\.[a-z_.]{1,60}$/;

/** Cache, because a source and the reducer both check an envelope. */
const known = new WeakMap<object, ReadEnvelope | null>();

/**
 * Reads an envelope from the wire; null if it is invalid. An invalid optional field is replaced, texts are truncated,
 * and an unknown type becomes an envelope that shows nothing. Never throws.
 */
export function readEnvelope(value: unknown): ReadEnvelope | null {
  if (!isRecord(value)) return null;
  let read = known.get(value);
  if (read === undefined) {
    try {
      read = checked(value);
    } catch {
      read = null;
    }
    known.set(value, read);
    // an envelope that a source passes on keeps its result
    if (read) known.set(read.envelope, read);
  }
  return read;
}

function checked(value: Record<string, unknown>): ReadEnvelope | null {
  const { type, session_id, execution_id, agent_id, seq, prev, timestamp, payload } = value;
  const parent = value['parent_agent_id'] ?? undefined;
  const isHead =
    [type, session_id, execution_id, agent_id, timestamp].every(isName) &&
    (parent === undefined || isName(parent)) &&
    (!isNumbered(type) || isPlace(seq, prev ?? null)) &&
    isRecord(payload);
  if (!isHead || typeof type !== 'string' || !isRecord(payload)) return null;
  const envelope = value as unknown as Envelope; // checked above; the payload follows
  const wanted = payloads.get(type);
  if (!wanted) return LATER.test(type) ? { envelope, isWhole: false } : null;
  const fit = readFields(wanted, payload);
  if (fit === null) return null;
  const isNullParent = value['parent_agent_id'] === null;
  if (fit.value === payload && !isNullParent) return { envelope, isWhole: true };
  const { parent_agent_id: _, ...rest } = value;
  const head = { ...rest, ...(parent !== undefined && { parent_agent_id: parent }) };
  return {
    envelope: { ...head, payload: fit.value } as unknown as Envelope, // matches its type
    isWhole: fit.isWhole,
  };
}

const unnumbered: ReadonlySet<unknown> = new Set<EnvelopeType>([
  'agent.stream.chunk',
  'agent.reasoning.chunk',
  'agent.tool.delta',
  'agent.worker',
]);

/** Whether the log has envelopes of this type. It has no chunks, deltas and notices about workers. */
export const isNumbered = (type: unknown): boolean => !unnumbered.has(type);

/** Whether the numbers are valid: they start with 1, and each envelope names a previous one. */
const isPlace = (seq: unknown, prev: unknown): boolean =>
  isCount(seq) &&
  Number(seq) > 0 &&
  (prev === null || (isCount(prev) && Number(prev) < Number(seq)));

/** A valid page of the log. */
export interface ReadRefill extends Omit<Refill, 'unfinished'> {
  readonly unfinished: readonly Envelope[];
  readonly ignored: number;
}

/**
 * Reads a page of the log with its valid envelopes and the number of invalid ones; null if it is not a page. Never
 * throws.
 */
export function readRefill(value: unknown): ReadRefill | null {
  try {
    if (!isRecord(value)) return null;
    const { session_id, execution_id, envelopes, seq, more } = value;
    const isPage =
      (execution_id === null || isName(execution_id)) && isName(session_id) && isCount(seq);
    if (!isPage || !Array.isArray(envelopes)) return null;
    let ignored = 0;
    const fitting = (list: readonly unknown[]): Envelope[] => {
      const fit: Envelope[] = [];
      for (const one of list) {
        const read = readEnvelope(one);
        if (!read?.isWhole) ignored += 1;
        if (read && read.envelope.session_id === session_id) fit.push(read.envelope);
      }
      return fit;
    };
    const said = value['unfinished'];
    return {
      session_id: session_id as string,
      execution_id: execution_id as string | null,
      envelopes: fitting(envelopes),
      unfinished: Array.isArray(said) ? fitting(said).filter(({ type }) => !isNumbered(type)) : [],
      seq: seq as number,
      more: more === true,
      ignored,
    };
  } catch {
    return null;
  }
}
