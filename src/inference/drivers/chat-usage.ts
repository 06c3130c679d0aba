import { isRecord } from '../../json.ts';
import type { Usage } from '../usage.ts';

/** Usage and cost of a body or chunk. */
export interface ChatUsage {
  readonly usage: Partial<Usage>;
  /** Cost; only OpenRouter sends one, null elsewhere. */
  readonly cost: number | null;
}

/** Reads the report of a body or chunk from any field that providers use; null if there is none. */
export function usageIn(body: Record<string, unknown>): ChatUsage | null {
  const found = readReport(body['usage']);
  if (found) return found;
  const groq = body['x_groq'];
  if (isRecord(groq)) return readReport(groq['usage']);
  const { choices } = body;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return isRecord(first) ? readReport(first['usage']) : null;
}

function readReport(report: unknown): ChatUsage | null {
  if (!isRecord(report)) return null;
  const prompt = count(report['prompt_tokens'] ?? report['input_tokens']);
  const output = count(report['completion_tokens'] ?? report['output_tokens']);
  if (prompt === undefined && output === undefined) return null;
  const inputDetails = report['prompt_tokens_details'] ?? report['input_tokens_details'];
  const outputDetails = report['completion_tokens_details'] ?? report['output_tokens_details'];
  const total = count(report['total_tokens']);
  const cachedInput =
    count(isRecord(inputDetails) ? inputDetails['cached_tokens'] : undefined) ??
    count(report['prompt_cache_hit_tokens']) ??
    count(report['cached_tokens']) ??
    count(report['cache_read_input_tokens']);
  const cacheWrite =
    count(isRecord(inputDetails) ? inputDetails['cache_write_tokens'] : undefined) ??
    count(report['cache_creation_input_tokens']);
  // proxies repeat Anthropic's own report, where cached and written input is beside the input
  const isBeside =
    report['prompt_tokens'] === undefined &&
    !isRecord(inputDetails) &&
    (report['cache_read_input_tokens'] ?? report['cache_creation_input_tokens']) !== undefined;
  const beside = isBeside ? (cachedInput ?? 0) + (cacheWrite ?? 0) : 0;
  const cacheWrite1h = hourIn(report, inputDetails);
  const reasoning =
    count(isRecord(outputDetails) ? outputDetails['reasoning_tokens'] : undefined) ??
    count(report['reasoning_tokens']);
  return {
    usage: {
      input: (prompt ?? 0) + beside,
      output: output ?? 0,
      ...(total === undefined ? null : { total: total + beside }),
      ...(cachedInput === undefined ? null : { cachedInput }),
      ...(reasoning === undefined ? null : { reasoning }),
      ...(cacheWrite ? { cacheWrite } : null),
      ...(cacheWrite && cacheWrite1h ? { cacheWrite1h } : null),
    },
    cost: billedIn(report),
  };
}

/** Reads what was written for an hour, as Anthropic and its proxies report it. */
function hourIn(report: Record<string, unknown>, details: unknown): number | undefined {
  const byTime =
    report['cache_creation'] ??
    (isRecord(details) ? details['cache_creation_token_details'] : undefined);
  return count(isRecord(byTime) ? byTime['ephemeral_1h_input_tokens'] : undefined);
}

/** With the user's own upstream key only a fee is billed here, so the price table is more accurate. */
const billedIn = ({ cost, is_byok: ownKey }: Record<string, unknown>): number | null =>
  typeof ownKey === 'boolean' && !ownKey && typeof cost === 'number' && cost >= 0 ? cost : null;

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
