import { inProcessQueue, type InferenceDriver, type SessionRuntime } from 'onward';
import { inProcessBus, type MessageBus } from 'onward/bus';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  answerIn,
  followerOf,
  hasEnded,
  numberedIn,
  speaking,
  textIn,
} from '../setup/following.ts';
import {
  ann,
  builderWith,
  callIds,
  clientOn,
  gate,
  memoryPlace,
  pause,
  runtimeOn,
  until,
  waiting,
} from '../setup/sessions.ts';

type Agent = ReturnType<ReturnType<typeof builderWith>['build']>;
/** Polls so rarely that only the bus can be fast. */
const lease = { leaseMs: 60_000, heartbeatMs: 30_000, signalMs: 30_000 };

/** Creates a process that serves and one that works, on one bus. */
function processes(
  agent: Agent,
  options: { readonly bus?: MessageBus; readonly codec?: Codec } = {},
) {
  const { bus = inProcessBus(), codec } = options;
  const place = memoryPlace(codec ? { codec } : {});
  return {
    web: clientOn(place.open(), agent, { bus, lease }),
    worker: runtimeOn(place.open(), agent, { bus, lease }),
  };
}
type Codec = { encode(text: string): string; decode(text: string): string };

const answering = (...steps: readonly ScenarioStep[]): Agent =>
  builderWith(DeterministicDriver.fromSteps(...steps)).build();

const statusOf = async (runtime: SessionRuntime, id: string): Promise<string> =>
  (await runtime.get(id, ann)).status;

describe('a process that only serves', () => {
  it('has its messages worked on by another process, and is notified of the end', async () => {
    const { web } = processes(answering(ScenarioStep.final('Hello.')));
    const { id } = await web.create(ann);
    const session = await web.send(id, 'hi', waiting);
    expect(session).toMatchObject({ status: 'completed', output: 'Hello.' });
  });

  it('never works on sessions itself', async () => {
    const web = clientOn(memoryPlace().open(), answering());
    const { id } = await web.create(ann);
    await web.send(id, 'hi', ann);
    web.start();
    expect(await web.recover()).toBe(0);
    const { stepCount, phase } = await web.get(id, ann);
    expect({ stepCount, phase }).toEqual({ stepCount: 0, phase: 'open' });
  });

  it('stops a run in another process immediately', async () => {
    const never = gate();
    const { web } = processes(builderWith(speaking(['All ', never])).build());
    const { id } = await web.create(ann);
    const reader = followerOf(web, id);
    await web.send(id, 'hi', ann);
    await until(() => textIn(reader.seen) === 'All ');
    const began = performance.now();
    await web.stop(id, waiting);
    expect(await statusOf(web, id)).toBe('stopped');
    // a poll would have taken half a minute
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it('pauses a run in another process', async () => {
    const hold = gate();
    const tool = mockTool('search', async () => hold.passed.then(() => 'found'));
    const steps = [ScenarioStep.toolCall('search', {}), ScenarioStep.final('Done.')];
    const { web } = processes(builderWith(DeterministicDriver.fromSteps(...steps), tool).build());
    const { id } = await web.create(ann);
    const reader = followerOf(web, id);
    await web.send(id, 'hi', ann);
    await until(() => reader.seen.some(({ event }) => event.type === 'ToolCallStarted'));
    await web.pause(id, ann);
    hold.open();
    await hasEnded(reader);
    expect(await statusOf(web, id)).toBe('paused');
  });

  it('forwards an approval to another process', async () => {
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const steps = [ScenarioStep.toolCall('pay', {}), ScenarioStep.final('Paid.')];
    const { web } = processes(builderWith(DeterministicDriver.fromSteps(...steps), pay).build());
    const { id } = await web.create(ann);
    const paused = await web.send(id, 'hi', waiting);
    const [callId = ''] = callIds(paused);
    expect(await web.approve(id, callId, waiting)).toMatchObject({ output: 'Paid.' });
  });

  it('polls the store rarely while it waits', async () => {
    const never = gate();
    const agent = builderWith(speaking(['All ', never])).build();
    const [bus, place] = [inProcessBus(), memoryPlace()];
    const store = place.open();
    let finds = 0;
    const find: typeof store.find = (...given) => {
      finds += 1;
      return store.find(...given);
    };
    const web = clientOn({ ...store, find }, agent, { bus, lease });
    runtimeOn(place.open(), agent, { bus, lease });
    const { id } = await web.create(ann);
    await web.send(id, 'hi', ann);
    await pause(100);
    finds = 0;
    const ended = web.wait(id, ann);
    await pause(1_500);
    // every 250 ms would be six of them
    expect(finds).toBeLessThan(5);
    await web.stop(id, ann);
    expect(await ended).toMatchObject({ status: 'stopped' });
  });

  it('ends its readers when another process deletes the session', async () => {
    const { web, worker } = processes(answering(ScenarioStep.final('Hello.')));
    const { id } = await web.create(ann);
    const reader = followerOf(web, id);
    await web.send(id, 'hi', waiting);
    await worker.delete(id, ann);
    await reader.ended;
  });
});

describe('text from another process', () => {
  const codec: Codec = {
    encode: (text) => Buffer.from(text).toString('base64'),
    decode: (text) => Buffer.from(text, 'base64').toString(),
  };

  it.each([
    ['without a codec', {}],
    ['through the codec of the store', { codec }],
  ])('is streamed to a reader that follows from the start, %s', async (_, options) => {
    const hold = gate();
    const { web } = processes(
      builderWith(speaking(['All ', 'is ', hold, 'well.'])).build(),
      options,
    );
    const { id } = await web.create(ann);
    const reader = followerOf(web, id);
    await web.send(id, 'go', ann);
    await until(() => textIn(reader.seen) === 'All is ');
    hold.open();
    await hasEnded(reader);
    expect(answerIn(reader.seen)).toBe('All is well.');
  });

  it('is delivered from its beginning to a reader that joins late, even without earlier readers', async () => {
    const [said, hold] = [gate(), gate()];
    const pieces = [
      'All ',
      'is ',
      {
        get passed() {
          said.open();
          return hold.passed;
        },
      },
      'well.',
    ];
    const { web } = processes(builderWith(speaking(pieces)).build());
    const { id } = await web.create(ann);
    await web.send(id, 'go', ann);
    await said.passed;
    const reader = followerOf(web, id);
    await until(() => textIn(reader.seen) === 'All is ');
    hold.open();
    await hasEnded(reader);
    expect(answerIn(reader.seen)).toBe('All is well.');
    expect(numberedIn(reader.seen).length).toBeGreaterThan(3);
  });

  it('arrives in the same pieces, however large they are', async () => {
    const large = ['a'.repeat(30_000), '😀'.repeat(9_000), '"\\\n'.repeat(5_000), 'end'];
    const hold = gate();
    const { web } = processes(builderWith(speaking([...large, hold])).build());
    const { id } = await web.create(ann);
    const [first, late] = [followerOf(web, id), () => followerOf(web, id)];
    await web.send(id, 'go', ann);
    const pieces = (seen: typeof first.seen): string[] =>
      seen.flatMap(({ event }) => (event.type === 'StreamChunk' ? [event.content] : []));
    await until(() => pieces(first.seen).length === large.length);
    const joined = late();
    await until(() => pieces(joined.seen).length === large.length);
    hold.open();
    await hasEnded(first);
    await hasEnded(joined);
    for (const { seen } of [first, joined]) {
      expect(pieces(seen)).toEqual(large);
      const indexes = seen.flatMap(({ event }) =>
        event.type === 'StreamChunk' ? [event.index] : [],
      );
      expect(indexes).toEqual([0, 1, 2, 3]);
    }
  });

  it('is lost without a bus, and the finished message has it', async () => {
    const silent: MessageBus = {
      maxBytes: 7_900,
      open: () => ({ isConnected: false, send() {}, close: async () => {} }),
    };
    const place = memoryPlace();
    const agent = builderWith(speaking(['All ', 'is well.'])).build();
    const web = clientOn(place.open(), agent, { bus: silent });
    const worker = runtimeOn(place.open(), agent, { bus: silent });
    const { id } = await web.create(ann);
    const reader = followerOf(web, id);
    await web.send(id, 'go', ann);
    worker.start();
    await hasEnded(reader);
    expect(textIn(reader.seen)).toBe('');
    expect(reader.seen).toContainEqual(
      expect.objectContaining({ event: expect.objectContaining({ content: 'All is well.' }) }),
    );
  });
});

describe('readers in several processes', () => {
  it('end with the same text after a stop from a third process, and the next turn works (D80)', async () => {
    const never = gate();
    let turn = 0;
    const model = {
      name: 'two turns',
      infer: () => Promise.reject(new Error('not streamed')),
      stream: (...given: Parameters<NonNullable<InferenceDriver['stream']>>) =>
        speaking(turn++ === 0 ? ['All ', 'is ', never] : ['Next.']).stream!(...given),
    };
    const bus = inProcessBus();
    const place = memoryPlace();
    const agent = builderWith(model).build();
    const open = (): SessionRuntime => clientOn(place.open(), agent, { bus, lease });
    const [one, two, three] = [open(), open(), open()];
    runtimeOn(place.open(), agent, { bus, lease });
    const { id } = await one.create(ann);
    const readers = [followerOf(one, id), followerOf(two, id)];
    await three.send(id, 'go', ann);
    for (const { seen } of readers) await until(() => textIn(seen) === 'All is ');
    await three.stop(id, waiting);
    for (const reader of readers) await hasEnded(reader);
    await three.send(id, 'again', waiting);
    for (const reader of readers) await hasEnded(reader, 2);
    const [first, second] = readers.map(({ seen }) => numberedIn(seen));
    expect(first).toEqual(second);
    // a short answer may be finished before its text is sent
    for (const { seen } of readers) expect(textIn(seen)).toMatch(/^All is (?:Next\.)?$/);
    const { items } = await two.messages(id, ann);
    expect(items.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'go'],
      ['assistant', 'All is '],
      ['user', 'again'],
      ['assistant', 'Next.'],
    ]);
  });
});

describe('workers on one bus', () => {
  it('take sessions that wait in a process without capacity', async () => {
    const hold = gate();
    const bus = inProcessBus();
    const place = memoryPlace();
    const began: string[] = [];
    const busy = (name: string): Agent =>
      builderWith({
        name,
        infer: async () => {
          began.push(name);
          await hold.passed;
          return { content: 'ok', toolCalls: [], finishReason: 'stop', usage: null };
        },
      }).build();
    const queue = () => inProcessQueue({ concurrency: 1 });
    const a = runtimeOn(place.open(), busy('a'), { bus, lease, queue: queue() });
    runtimeOn(place.open(), busy('b'), { bus, lease, queue: queue() });
    const ids = await Promise.all([a.create(ann), a.create(ann)]);
    for (const { id } of ids) await a.send(id, 'go', ann);
    await until(() => began.length === 2);
    expect(began.toSorted()).toEqual(['a', 'b']);
    hold.open();
  });
});
