import { spentBy, type Spender } from '../continuation/family-share.ts';
import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import { isRecord, own } from '../json.ts';
import { countText, exactMoneyText, secondsText, timesText } from './number-text.ts';
import { isSoftLanding, numberIn, textIn, evaluationOf } from './evaluations.ts';
import { sentence, withoutFullStop } from '../sentence.ts';

/** What the words are made from. */
export interface StopCase {
  readonly outcome: ContinuationOutcomeJSON;
  /** The voice that decided. */
  readonly voice: ContinuationEvaluation;
  readonly error: Pick<ErrorRecord, 'message'> | null;
  /** The last recorded step; null where it is not known. */
  readonly step: number | null;
}

/** Null where the records lack the numbers: then the reason stands as it was recorded. */
type Because = (stop: StopCase) => string | null;

const because: Readonly<Record<StopReason, Because>> = {
  completed: ({ voice }) =>
    voice.criterion === 'ToolCallPresenceCheck'
      ? 'the model answered and asked for no more tools'
      : null,
  steps_limit: (stop) => usedUp(stop, 'used', (n) => countText(n), 'steps', unreadWork(stop)),
  token_limit: (stop) => usedUp(stop, 'used', (n) => countText(n), 'tokens'),
  time_limit: (stop) => usedUp(stop, 'worked for', secondsText, 'seconds', longWait(stop)),
  retry_limit: ({ voice }) => {
    const failures = numberIn(voice, 'consecutiveFailures');
    const retries = numberIn(voice, 'maxRetries');
    if (failures === null || retries === null) return null;
    const row = failures > 1 ? ' in a row' : '';
    return `${whatFailed(voice)} failed ${timesText(failures)}${row}${errorType(voice)} and ${allUsed(retries)}`;
  },
  error: ({ voice, error }) => {
    const tool = textIn(voice, 'toolName');
    const type = textIn(voice, 'errorType');
    if (tool === null || type === null || !error) return null;
    return `${tool} failed (${words(type)}: ${clip(error.message)}) and the policy stops on ${words(type)} errors`;
  },
  finish_reason: ({ voice }) => own(cuts, textIn(voice, 'finishReason') ?? '') ?? null,
  guard: (stop) =>
    own(guards, stop.voice.criterion)?.(stop) ??
    (stop.voice.criterion.endsWith('CostLimit') ? usedUp(stop, 'spent', exactMoneyText, '') : null),
  user_requested: ({ voice, step }) => {
    if (textIn(voice, 'by') !== 'user') return null;
    const where = step === null ? '' : step > 0 ? ` at step ${step}` : ' before its first step';
    const said = voice.reason === 'a stop was requested' ? '' : ` (${clip(voice.reason)})`;
    return `you stopped it${where}${said}`;
  },
};

const cuts: Readonly<Record<string, string>> = {
  length: 'the model cut its answer at the length limit',
  content_filter: 'the content filter of the provider cut the answer',
};

const guards: Readonly<Record<string, Because>> = {
  NoProgressLimit: ({ voice }) => {
    const repeats = numberIn(voice, 'used');
    const tool = textIn(voice, 'toolName');
    return repeats === null || tool === null
      ? null
      : `${tool} gave the same result ${timesText(repeats)} in a row`;
  },
};

export interface BecauseText {
  readonly because: string;
  /** What the voice has said beyond its first sentence, such as what to do. */
  readonly rest: string | null;
}

/** In words of the table, else as the voice has put it. */
export function becauseOf(stop: StopCase): BecauseText {
  const { outcome, voice } = stop;
  const said = because[outcome.stopReason ?? 'completed']?.(stop);
  if (said) return { because: withoutFullStop(said), rest: null };
  const end = voice.reason.search(/\. [A-Z]/);
  const first = end < 0 ? voice.reason : voice.reason.slice(0, end);
  return {
    because: withoutFullStop(first).replace(/^(?:The|An?|No|This|It) /, (word) =>
      word.toLowerCase(),
    ),
    rest: end < 0 ? null : sentence(voice.reason.slice(end + 2)),
  };
}

/** Limits of the whole session are told apart by their name. */
export const isSessionWide = ({ criterion }: ContinuationEvaluation): boolean =>
  /^Session\w+Limit$/.test(criterion);

/** Whose limit it is: of the session, of the agent, or of the agent and all agents behind its calls. */
function subjectOf(voice: ContinuationEvaluation): readonly [who: string, whose: string] {
  if (isSessionWide(voice)) return ['this session', 'its'];
  if (textIn(voice, 'scope') === 'family')
    return [`${textIn(voice, 'agent') ?? 'it'} and its agents`, 'their'];
  return voice.criterion === 'FamilyStepsLimit' ? ['it and its agents', 'their'] : ['it', 'its'];
}

/** Who has used most of it, where agents behind calls have. */
function spendersIn({ context }: ContinuationEvaluation): readonly Spender[] {
  const { spenders } = context;
  if (!Array.isArray(spenders)) return [];
  return spenders.filter(
    (spender: unknown): spender is Spender =>
      isRecord(spender) &&
      typeof spender['agent'] === 'string' &&
      typeof spender['amount'] === 'number',
  );
}

/** "it used all 5 of its 5 steps", "this session spent $2.01 of its $2.00". */
function usedUp(
  { voice }: StopCase,
  verb: string,
  amount: (value: number) => string,
  unit: string,
  more: string = '',
): string | null {
  const used = numberIn(voice, 'used');
  const limit = numberIn(voice, 'limit');
  if (used === null || limit === null) return null;
  const [who, whose] = subjectOf(voice);
  const isCounted = used === limit && verb === 'used';
  if (isCounted && limit === 1) return `${who} used ${whose} only ${unit.replace(/s$/, '')}${more}`;
  const all = isCounted ? 'all ' : '';
  const of = `${amount(used)} of ${whose} ${amount(limit)}`;
  const by = spentBy(spendersIn(voice), amount, unit === '' ? 'of it' : 'of them');
  const rest = by !== '' && more !== '' ? `,${more}` : more;
  return `${who} ${verb} ${all}${of}${unit && ` ${unit}`}${by}${rest}`;
}

function unreadWork({ outcome }: StopCase): string {
  if (isSoftLanding(outcome)) return '';
  const calls = numberIn(evaluationOf(outcome, 'ToolCallPresenceCheck'), 'toolCalls') ?? 0;
  if (calls === 0) return ' while work was still pending';
  return calls === 1
    ? ' while a tool result was still unread'
    : ` while ${countText(calls)} tool results were still unread`;
}

function longWait({ voice }: StopCase): string {
  const waitMs = numberIn(voice, 'waitMs');
  const [used, limit] = [numberIn(voice, 'used'), numberIn(voice, 'limit')];
  return waitMs === null || (used ?? 0) >= (limit ?? 0)
    ? ''
    : ` and the next try would have to wait ${secondsText(waitMs / 1000)} seconds`;
}

const whatFailed = (voice: ContinuationEvaluation): string =>
  textIn(voice, 'toolName') ?? 'the model call';

function errorType(voice: ContinuationEvaluation): string {
  const type = textIn(voice, 'errorType');
  // that a tool or a model has failed is said already
  return type === null || type === 'tool' || type === 'model' ? '' : ` (${words(type)})`;
}

const allUsed = (retries: number): string => {
  if (retries === 0) return 'no retries are allowed';
  return retries === 1 ? 'its only retry is used' : `all ${countText(retries)} retries are used`;
};

export const words = (type: string): string => type.replaceAll('_', ' ');

const clip = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
};
