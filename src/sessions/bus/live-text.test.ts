import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LiveStreamed, StreamedEvent } from '../feed/live-source.ts';
import { bodiesOf } from './live-outbox.ts';
import { eventsOf, LiveTextList, parseTexts, PartJoiner } from './live-text.ts';

const base = { agentId: 'a', parentAgentId: null, executionId: 'e', at: '2026-01-01T00:00:00Z' };
const live = (event: object, sessionId = 's', follows = 3): LiveStreamed => ({
  sessionId,
  owner: 'ann',
  seq: null,
  follows,
  event: { ...base, ...event } as StreamedEvent,
});

/** The pieces of a text as a worker streams them. */
function piecesOf(messageId: string, contents: readonly string[], type = 'StreamChunk') {
  let offset = 0;
  return contents.map((content, index) => {
    const piece = live({ type, messageId, stepNumber: 1, attempt: 1, content, offset, index });
    offset += content.length;
    return piece;
  });
}

/** What arrives of texts that are sent in messages of a size. */
async function sent(events: readonly LiveStreamed[], maxBytes: number) {
  const list = new LiveTextList();
  for (const one of events) list.add(one);
  const bodies: string[] = [];
  for await (const body of bodiesOf(list.texts, { maxBytes, encode: (text) => text }))
    bodies.push(body);
  const joiner = new PartJoiner();
  const arrived = (received: readonly string[]): LiveStreamed[] =>
    received
      .flatMap(parseTexts)
      .flatMap((text) => joiner.join(text) ?? [])
      .flatMap(eventsOf);
  return { bodies, arrived };
}

describe('text that is sent to another process', () => {
  it('shares what the pieces of a text have in common', async () => {
    const { bodies, arrived } = await sent(piecesOf('m', ['All ', 'is ', 'well.']), 7_900);
    expect(bodies).toHaveLength(1);
    expect(bodies[0]?.split('"messageId"')).toHaveLength(2);
    expect(arrived(bodies)).toEqual(piecesOf('m', ['All ', 'is ', 'well.']));
  });

  it('keeps texts, agents and sessions apart', async () => {
    const events = [
      ...piecesOf('m', ['thought'], 'ReasoningDelta'),
      ...piecesOf('m', ['All ', 'is']),
      live({ ...piecesOf('m', ['nested'])[0]?.event, agentId: 'b' }),
      live({ ...piecesOf('m', ['other'])[0]?.event }, 't'),
      live({ ...piecesOf('m', ['later'])[0]?.event }, 's', 4),
    ];
    const { bodies, arrived } = await sent(events, 7_900);
    expect(arrived(bodies)).toEqual(events);
  });

  it('brings any pieces as they were, in messages of any size', async () => {
    const content = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.integer({ min: 1, max: 3_000 }).map((n) => 'x'.repeat(n)),
    );
    const property = fc.asyncProperty(
      fc.array(content, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 500, max: 4_000 }),
      async (contents, maxBytes) => {
        const events = piecesOf('m', contents);
        const { bodies, arrived } = await sent(events, maxBytes);
        for (const body of bodies) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(maxBytes);
        expect(arrived(bodies)).toEqual(events);
      },
    );
    await fc.assert(property, { numRuns: 200 });
  });

  it('joins the arguments of a call, however they are split', async () => {
    const delta = (argsDelta: string, offset: number): LiveStreamed =>
      live({ type: 'ToolCallDelta', toolCallId: 'c', tool: 't', argsDelta, offset, index: 0 });
    const args = 'y'.repeat(5_000);
    const { bodies, arrived } = await sent([delta(args, 0), delta('}', 5_000)], 1_000);
    const events = arrived(bodies).map(({ event }) => event);
    const texts = events.map((event) => (event.type === 'ToolCallDelta' ? event.argsDelta : ''));
    expect(texts.join('')).toBe(`${args}}`);
    let length = 0;
    for (const [i, event] of events.entries()) {
      expect(event).toMatchObject({ offset: length });
      length += texts[i]?.length ?? 0;
    }
  });

  it('drops a piece of which a part is lost, and takes the next ones', async () => {
    const { bodies, arrived } = await sent(piecesOf('m', ['z'.repeat(3_000), 'end']), 1_000);
    expect(bodies.length).toBeGreaterThan(3);
    const seen = arrived(bodies.toSpliced(1, 1)).map(({ event }) => event);
    expect(seen.at(-1)).toMatchObject({ content: 'end', offset: 3_000, index: 1 });
    expect(seen.some((event) => 'content' in event && event.content.length === 3_000)).toBe(false);
  });

  it('is ignored where it does not have the right form', () => {
    const good = { sessionId: 's', owner: 'ann', follows: 1, texts: ['x'] };
    const first = { ...piecesOf('m', [''])[0]?.event };
    const bad = [
      null,
      3,
      good,
      { ...good, first: null },
      { ...good, first: { ...first, type: 'AgentFinished' } },
      { ...good, first: { ...first, offset: -1 } },
      { ...good, first: { ...first, index: 0.5 } },
      { ...good, first: { ...first, messageId: 7 } },
      { ...good, first, texts: [1] },
      { ...good, first, sessionId: '../x' },
      { ...good, first, follows: 'x' },
      { ...good, first, isPart: 'yes' },
    ];
    expect(parseTexts(JSON.stringify(bad))).toEqual([]);
    expect(parseTexts(JSON.stringify([{ ...good, first }]))).toHaveLength(1);
    expect(parseTexts('{}')).toEqual([]);
  });
});
