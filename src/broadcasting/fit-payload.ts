import type {
  TruncatedValue,
  Envelope,
  EnvelopeType,
  WireEvaluation,
  WireExplanation,
} from './envelope.ts';
import { refOf, type RefField } from './envelope-ref.ts';
import { fitText, surelyFits, wireBytes } from './frame-budget.ts';
import { jsonText } from './wire-text.ts';

/** Even where nothing fits, a person should see this much of it. */
const LEAST_BYTES = 120;
/** Of a cut without its texts. */
const CUT_BYTES = 40;

/** Whose log holds the whole. */
interface Place {
  readonly executionId: string;
  readonly seq: number;
}

type Shorten = (value: never, bytes: number, place: Place) => unknown;

const cut =
  (field: RefField, textOf: (value: never, max: number) => string): Shorten =>
  (value, bytes, { executionId, seq }): TruncatedValue => {
    const ref = refOf(executionId, seq, field);
    const space = Math.max(LEAST_BYTES, bytes - CUT_BYTES - wireBytes(ref));
    return { summary: fitText(textOf(value, space), space), ref };
  };

const plainText = (value: string | TruncatedValue): string =>
  typeof value === 'string' ? value : value.summary;

const evaluationsText = (evaluations: readonly WireEvaluation[]): string =>
  evaluations
    .map(({ criterion, decision, reason }) => `${criterion} ${decision}: ${reason}`)
    .join('\n');

const shortText: Shorten = (value: string, bytes) =>
  fitText(value, Math.max(LEAST_BYTES, bytes - 4));

const shortRemedy: Shorten = (remedy: { readonly text: string }, bytes) => ({
  ...remedy,
  text: fitText(remedy.text, Math.max(LEAST_BYTES, bytes - 100)),
});

/** The actions stay, for a reader has to know what to do; which calls wait is told by other envelopes. */
const shortExplanation: Shorten = (explanation: WireExplanation) => ({
  ...explanation,
  headline: fitText(explanation.headline, 2 * LEAST_BYTES),
  detail: fitText(explanation.detail, LEAST_BYTES),
  actions: explanation.actions.map(({ call_ids, ...action }) => ({
    ...action,
    text: fitText(action.text, 2 * LEAST_BYTES),
    ...(call_ids && { call_ids: call_ids.slice(0, 1) }),
  })),
});

/** As many names as fit, and how many there are besides. */
const shortList: Shorten = (names: readonly string[], bytes) => {
  let space = Math.max(LEAST_BYTES, bytes - 40);
  const kept = names.findIndex((name) => (space -= wireBytes(name) + 1) < 0);
  return kept === -1 ? names : [...names.slice(0, kept), `… ${names.length - kept} more`];
};

/** That something is hidden stays said, if not where. */
const anywhere: Shorten = (): readonly string[] => [''];

/** What can be shortened, first what a reader misses least. */
const shortenings: Partial<Record<EnvelopeType, readonly (readonly [string, Shorten])[]>> = {
  'agent.status': [
    ['last_response', cut('last_response', plainText)],
    ['error_message', shortText],
    ['explanation', shortExplanation],
    ['stop_message', shortText],
    ['remedy', shortRemedy],
  ],
  'agent.message': [
    ['reasoning', shortText],
    ['content', cut('content', plainText)],
  ],
  'agent.step.started': [['available_tools', shortList]],
  'agent.tool.started': [
    ['args', cut('args', jsonText)],
    ['args_summary', shortText],
    ['tool', shortText],
  ],
  'agent.tool.completed': [
    ['args', cut('args', jsonText)],
    ['result_summary', cut('result', plainText)],
    ['args_summary', shortText],
    ['error', shortText],
    ['tool', shortText],
  ],
  'agent.approval.requested': [
    ['args', cut('args', jsonText)],
    ['args_summary', shortText],
    ['hidden', anywhere],
    ['tool', shortText],
  ],
  'agent.continuation': [['evaluations', cut('evaluations', evaluationsText)]],
};

/** The payload itself where it fits into `bytes`, else one whose large values are cut. */
export function fitPayload<P extends Envelope['payload']>(
  type: EnvelopeType,
  payload: P,
  bytes: number,
  place: Place,
): P {
  if (surelyFits(payload, bytes)) return payload;
  const fields: Record<string, unknown> = { ...payload };
  for (const [name, shorten] of shortenings[type] ?? []) {
    const over = wireBytes(fields) - bytes;
    if (over <= 0) break;
    const value = fields[name];
    if (value === null || value === undefined) continue;
    fields[name] = shorten(value as never, wireBytes(value) - over, place);
  }
  return fields as P;
}
