import type { EnvelopeSource } from '../ui/sources/envelope-source.ts';

/** How often news is told at most. */
const quietMs = 250;

/**
 * The same source, which also tells that something has happened: not for pieces of text, and at most a few times a
 * second, the last one included.
 */
export function withNews(source: EnvelopeSource, tell: () => void, round: number): EnvelopeSource {
  return {
    ...source,
    key: `${source.key ?? ''} ${round}`,
    open(sink, place) {
      let last = Number.NEGATIVE_INFINITY;
      let timer: ReturnType<typeof setTimeout> | null = null;
      const now = (): void => {
        timer = null;
        last = performance.now();
        tell();
      };
      const leave = source.open(
        {
          ...sink,
          envelope: (envelope) => {
            sink.envelope(envelope);
            // pieces of text and of arguments take no number
            if (envelope.seq === null || timer !== null) return;
            timer = setTimeout(now, Math.max(0, last + quietMs - performance.now()));
          },
        },
        place,
      );
      return () => {
        if (timer !== null) clearTimeout(timer);
        leave();
      };
    },
  };
}
