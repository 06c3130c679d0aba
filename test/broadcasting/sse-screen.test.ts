import { mockTool, ScenarioStep } from 'onward/testing';
import { newUiState, SourceError, reduceEnvelope, type UiState } from 'onward/ui';
import { describe, expect, it } from 'vitest';
import { sseSource } from '../../src/ui/sources/sse-source.ts';
import {
  ann,
  builderWith,
  followingDriver,
  memoryPlace,
  runtimeOn,
  until,
} from '../setup/sessions.ts';
import { connect, liveOn, serveFetch } from '../setup/sse.ts';

const { toolCall, stream } = ScenarioStep;
const slowly = mockTool('look', async () => {
  await new Promise((resolve) => setTimeout(resolve, 5));
  return 'rows';
});
const steps = Array.from({ length: 12 }, (_s, i) => toolCall('look', { q: i }, `I look at ${i}.`));
const agent = () =>
  builderWith(followingDriver([...steps, stream(['All ', 'is ', 'well.'])]), slowly)
    .withMaxSteps(30)
    .build();
/** Returns the visible part of a state. */
const shown = ({ status, messages, stop, usage, gap }: UiState) => ({
  status,
  messages,
  stop,
  usage,
  gap,
});

describe('a client with a breaking connection', () => {
  it.each([[300], [1_000], [5_000]])(
    'D63: shows the same as a stable one after breaks every %i bytes',
    async (most) => {
      const runtime = runtimeOn(memoryPlace().open(), agent());
      const live = liveOn(runtime);
      const { id } = await runtime.create(ann);
      let connections = 0;
      const { url } = await serveFetch(async (asked) => {
        connections += 1;
        const response = await live(asked, id);
        return new Response(
          response.body?.pipeThrough(cutAfter(most + connections * 100)),
          response,
        );
      });
      let broken = newUiState();
      const source = sseSource({
        url,
        headers: { 'x-user': 'ann' },
        backoff: { minMs: 1, maxMs: 5 },
      });
      const close = source.open(
        {
          envelope: (envelope) => (broken = reduceEnvelope(broken, envelope)),
          connection: () => {},
          stale: () => {
            throw new Error('nothing was missed');
          },
          failed: (error) => {
            if (!(error instanceof SourceError) || error.isFinal) throw error;
          },
        },
        () => broken.place,
      );
      const whole = await connect(live, id);
      await runtime.send(id, 'go', ann);
      await whole.until(() => whole.ends === 1);
      await until(() => broken.status === 'completed');
      close();
      expect(connections).toBeGreaterThan(3);
      const expected = whole.envelopes.reduce(reduceEnvelope, newUiState());
      expect(shown(broken)).toEqual(shown(expected));
      expect(expected.messages).toHaveLength(26);
      await until(() => live.hub.counters.readers === 1);
    },
  );
});

/** Ends a stream after some bytes. */
function cutAfter(bytes: number): TransformStream<Uint8Array, Uint8Array> {
  let left = bytes;
  return new TransformStream({
    transform(piece, controller) {
      controller.enqueue(piece.subarray(0, left));
      left -= piece.length;
      if (left <= 0) controller.terminate();
    },
  });
}
