import type { EnvelopeSource } from '../ui/sources/envelope-source.ts';

/** Milliseconds between two notifications. */
const quietMs = 250;

/**
 * Wraps a source and notifies about events: not about chunks, and at most a few times a second, including the last
 * one.
 */
export function withNews(
  source: EnvelopeSource,
  onNews: () => void,
  round: number,
): EnvelopeSource {
  return {
    ...source,
    key: `${source.key ?? ''} ${round}`,
    open(sink, place) {
      let last = Number.NEGATIVE_INFINITY;
      let timer: ReturnType<typeof setTimeout> | null = null;
      const now = (): void => {
        timer = null;
        last = performance.now();
        onNews();
      };
      const leave = source.open(
        {
          ...sink,
          envelope: (envelope) => {
            sink.envelope(envelope);
            // chunks and deltas have no number
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
