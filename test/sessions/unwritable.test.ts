import { defineTool } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  ann,
  builderWith,
  followingDriver,
  isSound,
  places,
  runtimeOn,
  waiting,
} from '../setup/sessions.ts';

const { final, toolCall, toolCalls } = ScenarioStep;

/** Refuses what contains the word, as a codec with a bug does. */
const codecThat = (refuses: (text: string) => unknown) => ({
  encode(text: string): string {
    if (text.includes('BOOM')) refuses(text);
    return text;
  },
  decode: (text: string): string => text,
});

const ways: readonly (readonly [string, (text: string) => unknown])[] = [
  [
    'throws',
    () => {
      throw new Error('cannot encode that');
    },
  ],
  [
    'overflows the stack',
    function deeper(text: string): unknown {
      return [deeper(text)];
    },
  ],
];

const say = (text: string) =>
  defineTool({
    name: 'say',
    description: 'Says it.',
    parameters: { type: 'object' },
    execute: () => text,
  });

describe.each(places)('what cannot be written (%s)', (_name, makePlace) => {
  describe.each(ways)('by a codec that %s', (_way, refuses) => {
    it.each([
      ['a result', [toolCall('say'), final('never')], 'BOOM'],
      [
        'one of several results',
        [toolCalls([{ name: 'say' }, { name: 'say' }]), final('x')],
        'BOOM',
      ],
      ['the arguments of a call', [toolCall('say', { a: 'BOOM' }), final('never')], 'fine'],
      ['an answer', [final('BOOM')], 'fine'],
      ['an answer after a step', [toolCall('say'), final('BOOM')], 'fine'],
    ] as const)(
      '%s: ends the execution as failed, once, and the next turn works',
      async (_what, turn, said) => {
        const store = makePlace({ codec: codecThat(refuses) }).open();
        const driver = followingDriver(turn, [final('next')]);
        const failures: unknown[] = [];
        const runtime = runtimeOn(store, builderWith(driver, say(said)).build(), {
          lease: { leaseMs: 300, heartbeatMs: 100 },
          onError: (error) => failures.push(error),
        });
        runtime.start();
        await runtime.create({ ...ann, id: 's' });
        const failed = await runtime.send('s', 'go', waiting);
        expect(failed).toMatchObject({ status: 'failed', phase: 'idle', stopReason: 'error' });
        expect(failed.outcome!.decisive!.reason).toContain('cannot be written down');
        const calls = driver.requests.length;
        expect(calls).toBeLessThanOrEqual(2);
        expect(failures).toEqual([]);
        await isSound(runtime, 's');
        expect(await runtime.send('s', 'and now?', waiting)).toMatchObject({
          status: 'completed',
          output: 'next',
        });
        await isSound(runtime, 's');
        expect(driver.requests).toHaveLength(calls + 1);
      },
    );
  });

  it('nothing at all: the session is parked, and continues when the codec works', async () => {
    let isBroken = true;
    const codec = {
      encode(text: string): string {
        if (isBroken && !text.includes('"salt"')) throw new Error('no key');
        return text;
      },
      decode: (text: string): string => text,
    };
    const store = makePlace({ codec }).open();
    const runtime = runtimeOn(store, builderWith(followingDriver([final('one')])).build(), {
      lease: { leaseMs: 300, heartbeatMs: 100 },
      onError: () => {},
    });
    runtime.start();
    await runtime.create({ ...ann, id: 's' });
    isBroken = false;
    await store.accept(
      's',
      {
        kind: 'message',
        executionId: 'e',
        body: JSON.stringify({ message: { role: 'user', content: 'go' } }),
        at: new Date().toISOString(),
      },
      { phases: ['idle'] },
    );
    isBroken = true;
    expect(await runtime.wait('s', ann)).toMatchObject({ phase: 'parked', status: 'failed' });
    isBroken = false;
    expect(await runtime.retry('s', waiting)).toMatchObject({ status: 'completed', output: 'one' });
  });
});
