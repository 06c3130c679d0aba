import type {
  TruncatedValue,
  Envelope,
  EnvelopeType,
  WireEvaluation,
  WireExplanation,
  WireFile,
} from './envelope.ts';
import { refOf, type RefField } from './envelope-ref.ts';
import { fitText, surelyFits, wireBytes } from './frame-budget.ts';
import { jsonText } from './wire-text.ts';

/** Bytes of a value that stay readable even if nothing fits. */
const MIN_BYTES = 120;
/** Bytes of a truncated value without its texts. */
const TRUNCATED_BYTES = 40;

/** Log position of the whole value. */
interface LogPosition {
  readonly executionId: string;
  readonly seq: number;
}

type Shorten = (value: never, bytes: number, position: LogPosition) => unknown;

const truncate =
  (field: RefField, textOf: (value: never, max: number) => string): Shorten =>
  (value, bytes, { executionId, seq }): TruncatedValue => {
    const ref = refOf(executionId, seq, field);
    const space = Math.max(MIN_BYTES, bytes - TRUNCATED_BYTES - wireBytes(ref));
    return { summary: fitText(textOf(value, space), space), ref };
  };

const plainText = (value: string | TruncatedValue): string =>
  typeof value === 'string' ? value : value.summary;

const evaluationsText = (evaluations: readonly WireEvaluation[]): string =>
  evaluations
    .map(({ criterion, decision, reason }) => `${criterion} ${decision}: ${reason}`)
    .join('\n');

const shortText: Shorten = (value: string, bytes) => fitText(value, Math.max(MIN_BYTES, bytes - 4));

const shortRemedy: Shorten = (remedy: { readonly text: string }, bytes) => ({
  ...remedy,
  text: fitText(remedy.text, Math.max(MIN_BYTES, bytes - 100)),
});

/** Keeps the actions, because the user needs them. Other envelopes name the waiting calls. */
const shortExplanation: Shorten = (explanation: WireExplanation) => ({
  ...explanation,
  headline: fitText(explanation.headline, 2 * MIN_BYTES),
  detail: fitText(explanation.detail, MIN_BYTES),
  actions: explanation.actions.map(({ call_ids, ...action }) => ({
    ...action,
    text: fitText(action.text, 2 * MIN_BYTES),
    ...(call_ids && { call_ids: call_ids.slice(0, 1) }),
  })),
});

/** Keeps as many names as fit, and says how many more there are. */
const shortList: Shorten = (names: readonly string[], bytes) => {
  let space = Math.max(MIN_BYTES, bytes - 40);
  const kept = names.findIndex((name) => (space -= wireBytes(name) + 1) < 0);
  return kept === -1 ? names : [...names.slice(0, kept), `… ${names.length - kept} more`];
};

/** Keeps as many files as fit; the text of the result names them all. */
const fewerFiles: Shorten = (files: readonly WireFile[], bytes) => {
  let space = bytes - 2;
  return files.filter((file) => (space -= wireBytes(file) + 1) >= 0);
};

/** Reports that something is hidden, without its position. */
const anywhere: Shorten = (): readonly string[] => [''];

/** Fields that can be shortened, least important first. */
const shortenings: Partial<Record<EnvelopeType, readonly (readonly [string, Shorten])[]>> = {
  'agent.status': [
    ['last_response', truncate('last_response', plainText)],
    ['error_message', shortText],
    ['explanation', shortExplanation],
    ['stop_message', shortText],
    ['remedy', shortRemedy],
  ],
  'agent.message': [
    ['reasoning', shortText],
    ['content', truncate('content', plainText)],
  ],
  'agent.step.started': [['available_tools', shortList]],
  'agent.tool.started': [
    ['args', truncate('args', jsonText)],
    ['args_summary', shortText],
    ['tool', shortText],
  ],
  'agent.tool.completed': [
    ['args', truncate('args', jsonText)],
    ['files', fewerFiles],
    ['result_summary', truncate('result', plainText)],
    ['args_summary', shortText],
    ['error', shortText],
    ['tool', shortText],
  ],
  'agent.approval.requested': [
    ['args', truncate('args', jsonText)],
    ['args_summary', shortText],
    ['hidden', anywhere],
    ['tool', shortText],
  ],
  'agent.input.requested': [
    ['schema', truncate('schema', jsonText)],
    ['message', shortText],
    ['tool', shortText],
  ],
  'agent.continuation': [['evaluations', truncate('evaluations', evaluationsText)]],
};

/** Returns the payload if it fits into `bytes`, else a copy with its large values truncated. */
export function fitPayload<P extends Envelope['payload']>(
  type: EnvelopeType,
  payload: P,
  bytes: number,
  position: LogPosition,
): P {
  if (surelyFits(payload, bytes)) return payload;
  const fields: Record<string, unknown> = { ...payload };
  for (const [name, shorten] of shortenings[type] ?? []) {
    const over = wireBytes(fields) - bytes;
    if (over <= 0) break;
    const value = fields[name];
    if (value === null || value === undefined) continue;
    fields[name] = shorten(value as never, wireBytes(value) - over, position);
  }
  return fields as P;
}
