import { isRecord } from '../../json.ts';
import type { Usage } from '../usage.ts';

/** Reads usage: v2 is flat, v3 and v4 have groups. The provider's own total wins if there is one. */
export function aiSdkUsage(usage: unknown, metadata?: unknown): Partial<Usage> | null {
  if (!isRecord(usage)) return null;
  const { inputTokens, outputTokens, raw } = usage;
  const input = count(isRecord(inputTokens) ? inputTokens['total'] : inputTokens);
  const output = count(isRecord(outputTokens) ? outputTokens['total'] : outputTokens);
  if (input === undefined && output === undefined) return null;
  const wire = isRecord(raw) ? raw : {};
  const total =
    count(usage['totalTokens']) ?? count(wire['total_tokens'] ?? wire['totalTokenCount']);
  const cachedInput = count(
    isRecord(inputTokens) ? inputTokens['cacheRead'] : usage['cachedInputTokens'],
  );
  const reasoning = count(
    isRecord(outputTokens) ? outputTokens['reasoning'] : usage['reasoningTokens'],
  );
  const written = writtenIn(inputTokens, wire, metadata);
  // v2 of the packages for Anthropic and Bedrock counts cached and written input beside the input
  const beside = isRecord(inputTokens) || !written.isBeside ? 0 : (cachedInput ?? 0) + written.all;
  return {
    input: (input ?? 0) + beside,
    output: output ?? 0,
    ...(total === undefined ? null : { total: total + beside }),
    ...(cachedInput === undefined ? null : { cachedInput }),
    ...(reasoning === undefined ? null : { reasoning }),
    ...(written.all > 0 && { cacheWrite: written.all }),
    ...(written.hour > 0 && { cacheWrite1h: written.hour }),
  };
}

/** Reads what was written to a prompt cache, which Anthropic and Bedrock report also by its time. */
function writtenIn(
  inputTokens: unknown,
  wire: Record<string, unknown>,
  metadata: unknown,
): { readonly all: number; readonly hour: number; readonly isBeside: boolean } {
  const about = (name: string): Record<string, unknown> => recordIn(metadata, name);
  const anthropic = about('anthropic');
  const bedrock = recordIn(about('bedrock'), 'usage');
  const report = isRecord(anthropic['usage']) ? anthropic['usage'] : wire;
  const ofBedrock = count(bedrock['cacheWriteInputTokens']);
  const isAnthropic = inputTokens !== undefined && inputTokens === report['input_tokens'];
  return {
    all:
      count(isRecord(inputTokens) ? inputTokens['cacheWrite'] : undefined) ??
      count(anthropic['cacheCreationInputTokens']) ??
      ofBedrock ??
      // packages for compatible servers leave it in the report
      count(wire['cache_creation_input_tokens']) ??
      count(recordIn(wire, 'prompt_tokens_details')['cache_write_tokens']) ??
      0,
    hour:
      count(recordIn(report, 'cache_creation')['ephemeral_1h_input_tokens']) ??
      hourIn(wire['cacheDetails']),
    isBeside: isAnthropic || ofBedrock !== undefined,
  };
}

/** Reads what Bedrock has written for an hour. */
const hourIn = (details: unknown): number =>
  Array.isArray(details)
    ? details.reduce<number>(
        (sum, one) =>
          isRecord(one) && one['ttl'] === '1h' ? sum + (count(one['inputTokens']) ?? 0) : sum,
        0,
      )
    : 0;

const recordIn = (value: unknown, key: string): Record<string, unknown> => {
  const found = isRecord(value) ? value[key] : undefined;
  return isRecord(found) ? found : {};
};

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
