import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LiveEvent, TextSoFar } from '../../src/sessions/feed/live-source.ts';
import { feedsOf } from '../../src/sessions/feed/feeds-of.ts';
import { followerOf, hasEnded, numberedIn, speaking, textIn } from '../setup/following.ts';
import {
  ann,
  builderWith,
  gate,
  memoryPlace,
  pause,
  runtimeOn,
  until,
  waiting,
} from '../setup/sessions.ts';

afterEach(() => vi.useRealTimers());

/**
 * Creates a session in the middle of "All is well, Ann.", whose worker answers asynchronously, like over a bus, when
 * the test resolves it.
 */
async function inTheMiddle() {
  const [more, rest] = [gate(), gate()];
  const pieces = ['All ', 'is ', more, 'well, ', rest, 'Ann.'];
  const runtime = runtimeOn(memoryPlace().open(), builderWith(speaking(pieces)).build());
  const { live } = feedsOf(runtime);
  const textNow = live.textSoFar.bind(live);
  const { id } = await runtime.create(ann);
  const there = followerOf(runtime, id);
  const running = runtime.send(id, 'go', waiting);
  await until(() => textIn(there.seen) === 'All is ');
  const asked: ((text: TextSoFar | null) => void)[] = [];
  live.textSoFar = () => new Promise((resolve) => void asked.push(resolve));
  const joined = followerOf(runtime, id);
  await until(() => asked.length === 1);
  const now = async (): Promise<TextSoFar | null> => textNow(id, { executionId: '', seq: 0 });
  return { there, joined, running, more, rest, asked, now };
}

describe('a worker that answers late with the text so far', () => {
  it('delivers it to a reader that has joined, and the rest follows', async () => {
    const { there, joined, running, more, rest, asked, now } = await inTheMiddle();
    await pause(5);
    expect(textIn(joined.seen)).toBe('');
    asked[0]?.(await now());
    await until(() => textIn(joined.seen) === 'All is ');
    more.open();
    await until(() => textIn(joined.seen) === 'All is well, ');
    rest.open();
    await running;
    await hasEnded(joined);
    expect(textIn(joined.seen)).toBe('All is well, Ann.');
    expect(numberedIn(joined.seen)).toEqual(numberedIn(there.seen));
    expect(asked).toHaveLength(1);
  });

  it.each(['as of the question', 'as of the answer'])(
    'misses no text that was streamed in between: the text %s',
    async (when) => {
      const { there, joined, running, more, rest, asked, now } = await inTheMiddle();
      const before = await now();
      more.open();
      await until(() => textIn(there.seen) === 'All is well, ');
      expect(textIn(joined.seen)).toBe('');
      asked[0]?.(when === 'as of the answer' ? await now() : before);
      await until(() => textIn(joined.seen) === 'All is well, ');
      rest.open();
      await running;
      await hasEnded(joined);
      expect(textIn(joined.seen)).toBe('All is well, Ann.');
      expect(asked).toHaveLength(1);
    },
  );

  it('comes too late if the message is finished', async () => {
    const { there, joined, running, more, rest, asked, now } = await inTheMiddle();
    const before = await now();
    more.open();
    rest.open();
    await running;
    await hasEnded(joined);
    asked[0]?.(before);
    await pause(5);
    expect(textIn(joined.seen)).toBe('');
    expect(numberedIn(joined.seen)).toEqual(numberedIn(there.seen));
  });
});

describe('a worker that does not answer', () => {
  it('is ignored after a second, and the finished message has the text', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
    const { there, joined, running, more, rest, asked, now } = await inTheMiddle();
    more.open();
    await until(() => textIn(there.seen) === 'All is well, ');
    await vi.advanceTimersByTimeAsync(1_000);
    asked[0]?.(await now());
    rest.open();
    await running;
    await hasEnded(joined);
    expect(textIn(joined.seen)).toBe('');
    const added = joined.seen.flatMap(({ event }) => (event.type === 'MessageAdded' ? event : []));
    expect(added.map(({ content }) => content)).toEqual(['go', 'All is well, Ann.']);
    expect(numberedIn(joined.seen)).toEqual(numberedIn(there.seen));
    // missing text is not requested again with each piece
    expect(asked).toHaveLength(1);
  });
});

describe('a source that loses or delays events', () => {
  /** Starts a run whose events reach a reader through the source. */
  async function over(source: (live: LiveEvent) => readonly LiveEvent[]) {
    const hold = gate();
    const model = speaking(['All ', 'is ', hold, 'well.']);
    const runtime = runtimeOn(memoryPlace().open(), builderWith(model).build());
    const { live } = feedsOf(runtime);
    const listen = live.listen.bind(live);
    live.listen = (id, listener) => listen(id, (event) => source(event).forEach(listener));
    const { id } = await runtime.create(ann);
    const reader = followerOf(runtime, id);
    await pause(5);
    const running = runtime.send(id, 'go', waiting);
    const log = async (): Promise<string[]> =>
      (await runtime.events(id, ann)).events.map(({ seq, event }) => `${seq} ${event.type}`);
    return { reader, running, hold, log };
  }
  const order = (types: readonly string[]): string[] =>
    types.filter((type) => /StepStarted|Chunk|MessageAdded/.test(type));

  it('text waits for the start of its step, which is read from the log', async () => {
    const lossy = (live: LiveEvent) => (live.event.type === 'AgentStepStarted' ? [] : [live]);
    const { reader, running, hold, log } = await over(lossy);
    await until(() => textIn(reader.seen) === 'All is ');
    hold.open();
    await running;
    await hasEnded(reader);
    expect(textIn(reader.seen)).toBe('All is well.');
    expect(numberedIn(reader.seen)).toEqual(await log());
    expect(order(reader.seen.map(({ event }) => event.type))).toEqual([
      'MessageAdded',
      'AgentStepStarted',
      'StreamChunk',
      'StreamChunk',
      'StreamChunk',
      'MessageAdded',
    ]);
  });

  it('text that comes after its message is dropped', async () => {
    const late: LiveEvent[] = [];
    const { reader, running, hold, log } = await over((live) => {
      if (live.event.type === 'StreamChunk') late.push(live);
      else return live.event.type === 'MessageAdded' ? [live, ...late.splice(0)] : [live];
      return [];
    });
    hold.open();
    await running;
    await hasEnded(reader);
    expect(textIn(reader.seen)).toBe('');
    expect(numberedIn(reader.seen)).toEqual(await log());
    expect(late).toEqual([]);
  });
});
