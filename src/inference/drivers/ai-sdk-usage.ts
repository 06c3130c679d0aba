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
  // v2 of Anthropic's package counts cached and written input beside the input
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

/** Reads what was written to a prompt cache; only Anthropic says for how long. */
function writtenIn(
  inputTokens: unknown,
  wire: Record<string, unknown>,
  metadata: unknown,
): { readonly all: number; readonly hour: number; readonly isBeside: boolean } {
  const own = isRecord(metadata) ? metadata['anthropic'] : undefined;
  const anthropic = isRecord(own) ? own : {};
  const report = isRecord(anthropic['usage']) ? anthropic['usage'] : wire;
  const byTime = report['cache_creation'];
  return {
    all:
      count(isRecord(inputTokens) ? inputTokens['cacheWrite'] : undefined) ??
      count(anthropic['cacheCreationInputTokens']) ??
      0,
    hour: count(isRecord(byTime) ? byTime['ephemeral_1h_input_tokens'] : undefined) ?? 0,
    isBeside: inputTokens !== undefined && inputTokens === report['input_tokens'],
  };
}

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
