import { AgentError, show } from '../../errors/agent-error.ts';
import { safeEnd } from '../../errors/excerpt.ts';
import type { StoredModelCall } from '../../sessions/requests/read-model-call.ts';
import type { OwnerOptions } from '../../sessions/session-options.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import { PayloadTexts } from './payload-text.ts';
import { toolCallDocuments } from './read-tool-calls.ts';
import { requestDocument, responseDocument } from './request-document.ts';
import { placeOf, type StepPlace } from './step-place.ts';

export interface PayloadQuery extends OwnerOptions, StepPlace {
  /** Name of a text in a document of the step, or `raw.request`, `raw.response`, `raw.step`. */
  readonly part: string;
  /** Index of the first character. Default 0. */
  readonly from?: number;
}

/** A range of a text. */
export interface PayloadRange {
  readonly part: string;
  readonly from: number;
  readonly text: string;
  readonly characters: number;
  /** Index from which to read on; null at the end. */
  readonly next: number | null;
}

/** Most characters of one range. */
const MOST_CHARACTERS = 100_000;

/** Reads a range of one text of a step, redacted before it is cut. */
export async function readPayload(
  runtime: SessionRuntime,
  sessionId: string,
  query: PayloadQuery,
): Promise<PayloadRange> {
  const { owner, part, from = 0 } = query;
  const isBare = part.startsWith('call.') || part.startsWith('response') || part === 'raw.step';
  const call = await runtime.modelCall(sessionId, { owner, ...placeOf(query), bare: isBare });
  const whole = textOf(call, part);
  if (whole === null) throw unknownPart(sessionId, part);
  const end = from + safeEnd(whole.slice(from), MOST_CHARACTERS);
  return {
    part,
    from,
    text: whole.slice(from, end),
    characters: whole.length,
    next: end < whole.length ? end : null,
  };
}

function textOf(call: StoredModelCall, part: string): string | null {
  const raw = /^raw\.(request|response|step)$/.exec(part)?.[1];
  if (raw !== undefined) return rawText(call, raw);
  const texts = new PayloadTexts(part);
  const all = { messages: 'all', from: 0, limit: Number.POSITIVE_INFINITY } as const;
  if (part.startsWith('call.')) toolCallDocuments(call, [], texts);
  else if (part.startsWith('response')) responseDocument(call, texts);
  else requestDocument(call, all, texts);
  return texts.found;
}

/** The records as JSON. Bytes of images and files are left out. */
function rawText(
  { request, answer, step, redactor }: StoredModelCall,
  what: string,
): string | null {
  const value = what === 'request' ? request : what === 'response' ? answer : step;
  if (value === null) return null;
  const json = JSON.parse(JSON.stringify(value, withoutBytes)) as unknown;
  return JSON.stringify(redactor.value(json), null, 2);
}

const withoutBytes = (key: string, value: unknown): unknown =>
  key === 'data' && typeof value === 'string' && value.length > 200
    ? `[${value.length} characters of base64]`
    : value;

const unknownPart = (sessionId: string, part: string): AgentError =>
  new AgentError(
    'invalid_option',
    `The step of session ${sessionId} has no text ${show(part)}. Use a part that a document of this step names.`,
    { details: { sessionId, part } },
  );
