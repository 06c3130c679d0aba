import { safeEnd } from '../errors/excerpt.ts';
import type { Redactor } from '../errors/redactor.ts';

/** What a provider reports about a model call besides the answer. */
export interface ProviderReport {
  /** Name of the model that answered, as the provider writes it. */
  readonly model?: string;
  /** Id to give to the provider's support: from the headers, else the id of the answer. */
  readonly requestId?: string;
  /** Problems with the request that the provider or its package worked around. */
  readonly warnings?: readonly string[];
  /** The finish reason in the provider's own word. */
  readonly rawFinishReason?: string;
}

/** The record of a {@link ProviderReport} in a step: bounded and redacted. */
export interface ModelCallInfo extends ProviderReport {
  /** Absent if it is the same as `finishReason`. */
  readonly rawFinishReason?: string;
  /** Milliseconds that the request waited for a limiter before it was sent; absent if it did not wait. */
  readonly queuedMs?: number;
  /** Milliseconds from the request to the first chunk of a streamed answer. */
  readonly firstTokenMs?: number;
}

/** Maximum characters of a name, an id or a word. */
const MAX_WORD = 200;
const MAX_WARNING = 500;
const MAX_WARNINGS = 8;
/** Maximum characters of a text that are searched for secrets. */
const MAX_READ = 10_000;

/** Times of a call in milliseconds; null: there was no first chunk. */
export interface CallTimes {
  readonly firstTokenMs: number | null;
  readonly queuedMs: number;
}

/** Returns the record of a call; null if there is nothing to record. */
export function modelCallInfo(
  report: ProviderReport,
  finishReason: string | null,
  { firstTokenMs, queuedMs }: CallTimes,
  redactor: Pick<Redactor, 'text'>,
): ModelCallInfo | null {
  const model = bounded(report.model, MAX_WORD, redactor);
  const requestId = bounded(report.requestId, MAX_WORD, redactor);
  const word = bounded(report.rawFinishReason, MAX_WORD, redactor);
  const warnings = warningsIn(report.warnings, redactor);
  const info: { -readonly [K in keyof ModelCallInfo]: ModelCallInfo[K] } = {};
  if (model !== '') info.model = model;
  if (requestId !== '') info.requestId = requestId;
  if (word !== '' && word !== finishReason) info.rawFinishReason = word;
  if (warnings.length > 0) info.warnings = warnings;
  if (firstTokenMs !== null) info.firstTokenMs = Math.max(0, Math.round(firstTokenMs));
  if (Math.round(queuedMs) > 0) info.queuedMs = Math.round(queuedMs);
  for (const _ in info) return info;
  return null;
}

function warningsIn(warnings: unknown, redactor: Pick<Redactor, 'text'>): readonly string[] {
  if (!Array.isArray(warnings)) return [];
  return warnings
    .slice(0, MAX_WARNINGS)
    .map((warning: unknown) => bounded(warning, MAX_WARNING, redactor))
    .filter((warning) => warning !== '');
}

/** Returns a foreign text in a bounded length without secrets; '' if it is not a text. */
function bounded(text: unknown, most: number, redactor: Pick<Redactor, 'text'>): string {
  if (typeof text !== 'string' || text === '') return '';
  // before it is truncated, because half a secret matches no pattern
  const safe = redactor.text(text.slice(0, safeEnd(text, MAX_READ))).trim();
  if (safe.length <= most) return safe;
  const end = most - 1;
  // a character outside of the basic plane has two halves, and one of them alone is no text
  const isSplit = /[\uD800-\uDBFF]/.test(safe.charAt(end - 1));
  return `${safe.slice(0, isSplit ? end - 1 : end)}…`;
}
