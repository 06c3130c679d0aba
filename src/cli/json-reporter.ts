import { BroadcastConfig } from '../broadcasting/broadcast-config.ts';
import type { Envelope } from '../broadcasting/envelope.ts';
import { envelopeOf } from '../broadcasting/envelope-of.ts';
import { StreamEnvelopes } from '../broadcasting/stream-envelopes.ts';
import type { CliContext } from './cli-context.ts';
import type { RunReporter } from './run-reporter.ts';

/** A pipe has no frame limit: arguments, results and texts are whole up to a readable line. */
const config = BroadcastConfig.debug({
  frameBytes: 1_000_000,
  maxArgLength: 10_000,
  maxResultLength: 10_000,
});

/** Prints one envelope per line, as a UI gets it over the network. */
export function jsonReporter(context: CliContext, sessionId: string): RunReporter {
  const print = (envelope: Envelope): void => context.printJson(envelope);
  const numbered = envelopeOf(config);
  const streams = new Map<string, StreamEnvelopes>();
  const streamOf = (executionId: string): StreamEnvelopes => {
    const stream =
      streams.get(executionId) ?? new StreamEnvelopes({ sessionId, executionId }, config);
    streams.set(executionId, stream);
    return stream;
  };
  let prev: number | null = null;
  return {
    event(event, seq) {
      const stream = streamOf(event.executionId);
      if (seq === null) {
        stream.send(event, print);
        return;
      }
      stream.closing(event, print);
      const envelope = numbered(event, sessionId, seq, prev ?? seq - 1);
      if (envelope === null) return;
      prev = seq;
      print(envelope);
    },
    note: () => {},
    rest: () => {},
  };
}
