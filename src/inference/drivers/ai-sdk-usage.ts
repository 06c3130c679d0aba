import { isRecord } from '../../json.ts';
import type { Usage } from '../usage.ts';

/** Reads usage: v2 is flat, v3 and v4 have groups. The provider's own total wins if there is one. */
export function aiSdkUsage(usage: unknown): Partial<Usage> | null {
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
  return {
    input: input ?? 0,
    output: output ?? 0,
    ...(total === undefined ? null : { total }),
    ...(cachedInput === undefined ? null : { cachedInput }),
    ...(reasoning === undefined ? null : { reasoning }),
  };
}

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
