import { AgentBuilder } from 'onward';
import { describe, expect, it } from 'vitest';
import { wires, type Wire } from './setup/provider-wires.ts';
import type { Json } from './setup/wire.ts';

const MB = 1_000_000;
const bytes = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(new TextEncoder().encode(text));

/** A server that sends the beginning, then the same bytes without end. Counts what was read. */
function endless(begin: string, piece: string, init: ResponseInit) {
  const seen = { read: 0, isClosed: false };
  const more = bytes(piece);
  const fetch: typeof globalThis.fetch = async () =>
    new Response(
      new ReadableStream<Uint8Array<ArrayBuffer>>(
        {
          start: (controller) => controller.enqueue(bytes(begin)),
          async pull(controller) {
            await new Promise((resolve) => setImmediate(resolve));
            seen.read += more.length;
            controller.enqueue(more);
          },
          cancel() {
            seen.isClosed = true;
          },
        },
        { highWaterMark: 0 },
      ),
      init,
    );
  return { seen, fetch };
}

const sse = { headers: { 'content-type': 'text/event-stream' } };
const frame = (event: Json): string => `data: ${JSON.stringify(event)}\n\n`;
const word = 'x'.repeat(MB);

/** The events up to a text of a megabyte, and that event alone. */
function textOf(wire: Wire): readonly [string, string] {
  const [begin] = wire.stream({ n: 1, text: 'WORD' });
  const at = begin.findIndex((event) => JSON.stringify(event).includes('WORD'));
  const event = JSON.stringify(begin[at]).replace('WORD', word);
  return [begin.slice(0, at).map(frame).join(''), `data: ${event}\n\n`];
}

const own = wires.filter(({ name }) => !name.startsWith('AI SDK'));

describe('a server that sends without end', () => {
  it.each(wires.map((wire) => [wire.name, wire] as const))(
    'text through %s: the call fails when the answer is too large',
    async (_name, wire) => {
      const { seen, fetch } = endless(...textOf(wire), sse);
      const state = await AgentBuilder.base()
        .withModel(wire.model(fetch))
        .build()
        .run('go', { wiretap: () => {} });
      const [error] = state.steps.at(0)?.errors ?? [];
      expect(error).toMatchObject({ type: 'validation', code: 'unreadable_body' });
      expect(error?.message).toContain('more than 64 MB');
      expect(seen.read).toBeLessThan(80 * MB);
      expect(seen.isClosed).toBe(true);
      expect(JSON.stringify(state).length).toBeLessThan(100_000);
    },
    60_000,
  );

  it.each(
    own.flatMap((wire) =>
      (
        [
          ['an event', 'data: {"a":"', word, sse, true, 70],
          ['comments', '', `: ${word}\n`, sse, true, 70],
          ['lines that are no events', '', `${word}\n`, sse, true, 70],
          ['white space of a whole answer', '', ' '.repeat(MB), {}, false, 70],
          ['a whole answer', '{"a":"', word, {}, false, 70],
          ['a refusal', '{"error":{"message":"', word, { status: 500 }, true, 8],
        ] as const
      ).map((row) => [wire.name, ...row, wire] as const),
    ),
  )(
    '%s: %s ends the call',
    async (_name, _what, begin, piece, init, isStream, mostMb, wire) => {
      const { seen, fetch } = endless(begin, piece, init);
      const state = await AgentBuilder.base()
        .withModel(wire.model(fetch))
        .build()
        .run('go', isStream ? { wiretap: () => {} } : {});
      const isRefusal = mostMb < 70;
      expect(state.steps.at(0)?.errors).toMatchObject([
        isRefusal ? { type: 'model', code: 'server', status: 500 } : { code: 'unreadable_body' },
      ]);
      expect(seen.read).toBeLessThan(mostMb * MB);
      expect(seen.isClosed).toBe(true);
    },
    60_000,
  );
});
