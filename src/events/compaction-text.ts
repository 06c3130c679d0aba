/** A compaction as events, steps and envelopes have it. */
export interface ShownCompaction {
  readonly kind: 'tool_results' | 'summary';
  readonly messages: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** Says what a compaction did: "earlier messages summarized: 182 messages, 96k → 1.2k tokens". */
export function compactionText({
  kind,
  messages,
  tokensBefore,
  tokensAfter,
}: ShownCompaction): string {
  const what =
    kind === 'summary'
      ? `earlier messages summarized: ${messages} ${messages === 1 ? 'message' : 'messages'},`
      : 'earlier tool results left out:';
  const [before, after] = [tokensBefore, tokensAfter].map(short);
  // a small difference shows in whole tokens
  const sizes = before === after ? [tokensBefore, tokensAfter] : [before, after];
  return `${what} ${sizes.join(' → ')} tokens`;
}

const short = (tokens: number): string =>
  tokens < 1_000
    ? String(tokens)
    : `${tokens < 10_000 ? Math.round(tokens / 100) / 10 : Math.round(tokens / 1_000)}k`;
