import { Messages } from 'onward';
import type { SessionStore } from 'onward/stores';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pairingProblem } from '../../src/messages/pairing.ts';
import type { MessageInput } from '../../src/messages/message.ts';
import {
  ann,
  builderWith,
  callIds,
  followingDriver,
  isSound,
  memoryPlace,
  places,
  runtimeOn,
  waiting,
} from '../setup/sessions.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const look = () => mockTool('look', 'seen');

/** Creates a whole turn: a user message, steps with one or more calls, and an answer. */
const turnOf = (name: string, steps: readonly number[]): MessageInput[] => [
  { role: 'user', content: `${name} asked` },
  ...steps.flatMap((calls, s): MessageInput[] => {
    const ids = Array.from({ length: calls }, (_c, c) => `${name}.${s}.${c}`);
    return [
      {
        role: 'assistant',
        content: '',
        toolCalls: ids.map((id) => ({ id, name: 'look', args: {} })),
      },
      ...ids.map((toolCallId): MessageInput => ({ role: 'tool', content: 'seen', toolCallId })),
    ];
  }),
  { role: 'assistant', content: `${name} answered` },
];

/** Creates a session with these messages, and returns the messages that the model sees in the next turn. */
async function seenBy(store: SessionStore, messages: readonly MessageInput[], maxMessages: number) {
  const { id } = await runtimeOn(store, builderWith(followingDriver()).build()).create({
    ...ann,
    messages,
  });
  const first = DeterministicDriver.fromResponses('first');
  await runtimeOn(store, builderWith(first).build()).send(id, 'settle', waiting);
  const driver = DeterministicDriver.fromResponses('ok');
  const runtime = runtimeOn(store, builderWith(driver).build(), { maxMessages });
  const session = await runtime.send(id, 'now', waiting);
  const { messages: seen, messageCount } = driver.requests[0]!;
  return { id, runtime, session, seen: [...seen].slice(0, messageCount) };
}

describe.each(places)('the window of a turn (%s)', (_name, makePlace) => {
  it('has whole steps, after all instructions and the user message of their turn', async () => {
    const messages: MessageInput[] = [
      { role: 'system', content: 'You are kind.' },
      { role: 'developer', content: 'Be short.' },
      ...turnOf('a', [1, 1, 1, 1]),
      ...turnOf('b', [2, 2, 2, 2, 2]),
    ];
    const { seen } = await seenBy(makePlace().open(), messages, 10);
    expect(seen.map(({ role, text }) => text || role)).toEqual([
      'You are kind.',
      'Be short.',
      'b asked',
      'assistant',
      'seen',
      'seen',
      'assistant',
      'seen',
      'seen',
      'b answered',
      'settle',
      'first',
      'now',
    ]);
    expect(pairingProblem(seen)).toBeNull();
  });

  it('is limited by characters too, and keeps each call with its result', async () => {
    const store = makePlace().open();
    const large = (name: string) => name.padEnd(20_000, '.');
    const messages: MessageInput[] = [
      { role: 'system', content: 'You are kind.' },
      { role: 'user', content: large('old') },
      { role: 'assistant', content: large('older answer') },
      ...turnOf('b', [1]).map((message): MessageInput =>
        message.role === 'tool' ? { ...message, content: large('result') } : message,
      ),
    ];
    const { id } = await runtimeOn(store, builderWith(followingDriver()).build()).create({
      ...ann,
      messages,
    });
    await runtimeOn(store, builderWith(DeterministicDriver.fromResponses('first')).build()).send(
      id,
      'settle',
      waiting,
    );
    const driver = DeterministicDriver.fromResponses('ok', 'ok');
    const agent = builderWith(driver).build();
    await runtimeOn(store, agent, { maxCharacters: 24_000 }).send(id, 'now', waiting);
    // smaller than the newest turn, which stays
    await runtimeOn(store, agent, { maxCharacters: 1 }).send(id, 'again', waiting);
    const seen = driver.requests.map(({ messages: all, messageCount }) =>
      [...all].slice(0, messageCount).map(({ role, text }) => text.slice(0, 15) || role),
    );
    expect(seen[0]).toEqual([
      'You are kind.',
      'b asked',
      'assistant',
      'result.........',
      'b answered',
      'settle',
      'first',
      'now',
    ]);
    expect(seen[1]).toEqual(['You are kind.', 'now', 'ok', 'again']);
  });

  it('keeps positions in the store: new rows follow the existing ones', async () => {
    const place = makePlace();
    const messages = [...turnOf('a', [1, 2, 1]), ...turnOf('b', [3, 1])];
    const { id, runtime, session } = await seenBy(place.open(), messages, 4);
    expect(session).toMatchObject({
      output: 'ok',
      messageCount: messages.length + 4,
      stepCount: 2,
    });
    const rows = await place.open().messages(id, '');
    expect(rows.map(({ position }) => position)).toEqual(rows.map((_r, i) => i));
    const all = (await runtime.messages(id, ann)).items;
    expect(all.slice(0, messages.length).map(({ content }) => content)).toEqual(
      messages.map(({ content }) => content),
    );
    expect(all.slice(-4).map(({ content }) => content)).toEqual(['settle', 'first', 'now', 'ok']);
    const state = await runtime.state(id, ann);
    expect(state.outputText).toBe('ok');
    const whole = await runtimeOn(place.open(), builderWith(followingDriver()).build()).state(
      id,
      ann,
    );
    expect(whole.messages.length).toBe(messages.length + 4);
    expect(whole.messages.at(whole.execution.firstMessage)!.text).toBe('now');
    await isSound(runtime, id);
  });

  it('has all of an execution that continues, however long it is', async () => {
    const place = makePlace();
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const steps = Array.from({ length: 12 }, () => toolCall('look'));
    const make = (driver: DeterministicDriver) =>
      runtimeOn(place.open(), builderWith(driver, look(), pay).build(), { maxMessages: 3 });
    const first = make(DeterministicDriver.fromSteps(final('before'), ...steps, toolCall('pay')));
    await first.create({ ...ann, id: 's' });
    await first.send('s', 'one', waiting);
    const paused = await first.send('s', 'two', waiting);
    const driver = DeterministicDriver.fromSteps(final('done'));
    const second = make(driver);
    const state = await second.state('s', ann);
    expect(state.steps.length).toBe(12);
    expect(state.messages.at(0)!.isUser()).toBe(true);
    expect(state.messages.at(state.execution.firstMessage)!.text).toBe('two');
    expect(await second.approve('s', callIds(paused)[0]!, waiting)).toMatchObject({
      output: 'done',
      stepCount: 14 + 1,
    });
    // the message, 12 steps with a result each, the call and its result
    expect([...driver.requests[0]!.messages].filter(({ role }) => role === 'tool')).toHaveLength(
      13,
    );
    await isSound(second, 's');
  });

  it('D36: has all of an execution that is reopened after a limit stop', async () => {
    const place = makePlace();
    const steps = Array.from({ length: 6 }, () => toolCall('look'));
    const make = (...script: ScenarioStep[]) => {
      const agent = builderWith(DeterministicDriver.fromSteps(...script), look()).withMaxSteps(6);
      return runtimeOn(place.open(), agent.build(), { maxMessages: 3 });
    };
    const first = make(final('before'), ...steps);
    await first.create({ ...ann, id: 's' });
    await first.send('s', 'one', waiting);
    expect((await first.send('s', 'two', waiting)).stopReason).toBe('steps_limit');
    const second = make(toolCall('look'), final('done'));
    const done = await second.resume('s', { ...waiting, grant: { steps: 5 } });
    expect(done).toMatchObject({ output: 'done', stepCount: 9 });
    expect((await first.messages('s', ann)).items.at(-1)!.content).toBe('done');
    await isSound(first, 's');
  });
});

describe('for any conversation and window', () => {
  const turns = fc.array(fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 4 }), {
    minLength: 1,
    maxLength: 5,
  });

  it('the messages are valid for a provider, the newest are included, and none is lost from the store', async () => {
    await fc.assert(
      fc.asyncProperty(turns, fc.boolean(), async (shape, hasSystem) => {
        const messages: MessageInput[] = [
          ...(hasSystem ? [{ role: 'system', content: 'Rules.' } as const] : []),
          ...shape.flatMap((steps, n) => turnOf(`t${n}`, steps)),
        ];
        for (let size = 1; size <= 30; size++) {
          const { seen, session } = await seenBy(memoryPlace().open(), messages, size);
          expect(pairingProblem(seen)).toBeNull();
          const order = [...messages.map(({ content }) => content), 'settle', 'first', 'now'];
          expect(session.messageCount).toBe(order.length + 1);
          if (hasSystem) expect(seen[0]!.text).toBe('Rules.');
          // the first turn in the window begins with its user message
          expect(seen.find(({ role }) => role !== 'system')!.isUser()).toBe(true);
          const tail = seen.map(({ text }) => text).slice(-Math.min(size, 3) - 1);
          expect(order.slice(-tail.length)).toEqual(tail);
          expect(Messages.from(seen).length).toBeLessThanOrEqual(size + 3 + 1);
        }
      }),
      { numRuns: 6 },
    );
  }, 30_000);
});

describe('the number of rows that a turn reads', () => {
  /** Counts the rows that a turn reads after this many steps. */
  async function readAfter(steps: number): Promise<number> {
    const store = memoryPlace().open();
    const script = [
      ...Array.from({ length: steps }, () => toolCalls([{ name: 'look' }])),
      final('done'),
    ];
    const long = builderWith(DeterministicDriver.fromSteps(...script), look()).withMaxSteps(5_000);
    const first = runtimeOn(store, long.build(), { maxMessages: 20 });
    await first.create({ ...ann, id: 's' });
    await first.send('s', 'go', waiting);
    let rows = 0;
    const counted =
      <A extends unknown[], R>(read: (...args: A) => Promise<readonly R[]>) =>
      async (...args: A): Promise<readonly R[]> => {
        const found = await read(...args);
        rows += found.length;
        return found;
      };
    const counting: SessionStore = {
      ...store,
      messages: counted(store.messages),
      steps: counted(store.steps),
      calls: counted(store.calls),
      agents: counted(store.agents),
      events: counted(store.events),
      blobs: counted(store.blobs),
    };
    const second = builderWith(DeterministicDriver.fromResponses('next')).build();
    const runtime = runtimeOn(counting, second, { maxMessages: 20 });
    await runtime.send('s', 'more', waiting);
    return rows;
  }

  it('depends only on the window, not on the history', async () => {
    const [short, long] = [await readAfter(15), await readAfter(1_500)];
    expect(long).toBe(short);
    expect(short).toBeLessThan(30);
  }, 30_000);
});
