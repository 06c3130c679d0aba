import { defineTool } from 'onward';
import type { BlobRow, SessionStore } from 'onward/stores';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { open as openPostgres } from '../setup/postgres-stores.ts';
import {
  ann,
  builderWith,
  clientOn,
  followingDriver,
  isSound,
  places,
  runtimeOn,
  waiting,
} from '../setup/sessions.ts';

const { final, toolCall, toolCalls } = ScenarioStep;

/** Creates a codec with a bug: it refuses texts that contain BOOM. */
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

describe.each(places)('a value that cannot be written (%s)', (_name, makePlace) => {
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
      '%s: fails the execution once, and the next turn works',
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
        expect(failed.outcome!.decisive!.reason).toContain('cannot be stored');
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

  it('parks the session if nothing can be written, and continues when the codec works', async () => {
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

/** Creates a codec that fails at one text, counted from the call of `failAt`. */
function failingOnce() {
  let texts = 0;
  let place = Number.NaN;
  return {
    codec: {
      encode(text: string): string {
        texts += 1;
        if (texts === place) throw new Error('no key for a moment');
        return text;
      },
      decode: (text: string): string => text,
    },
    failAt(text: number) {
      texts = 0;
      place = text;
    },
    texts: () => texts,
  };
}

describe.each(places)('a codec that fails once (%s)', (_name, makePlace) => {
  it.each([
    [1, 'its row'],
    [2, 'prompt and tools'],
    [3, 'the state'],
  ])(
    'at text %d of the first commit (%s): the execution fails once, and the next turn works',
    async (place) => {
      const { codec, failAt, texts } = failingOnce();
      const store = makePlace({ codec }).open();
      const driver = followingDriver([final('one')], [final('two')]);
      const agent = builderWith(driver).withSystemPrompt('Be kind.').build();
      const client = clientOn(store, agent);
      await client.create({ ...ann, id: 's' });
      await client.send('s', 'go', ann);
      failAt(place);
      const worker = runtimeOn(store, agent, { lease: { leaseMs: 300, heartbeatMs: 100 } });
      worker.start();
      expect(await worker.wait('s', ann)).toMatchObject({ status: 'failed', phase: 'idle' });
      expect(texts()).toBeGreaterThan(place);
      expect(driver.requests).toHaveLength(0);
      expect(await keptPrompt(store, 's')).toContain('Be kind.');
      expect(await worker.send('s', 'and now?', waiting)).toMatchObject({ output: 'two' });
      await isSound(worker, 's');
    },
  );

  it('when a grant is applied: the execution fails, and the grant is not applied again', async () => {
    const { codec, failAt } = failingOnce();
    const store = makePlace({ codec }).open();
    const driver = followingDriver([toolCall('say'), final('never')], [final('next')]);
    const agent = builderWith(driver, say('fine')).withMaxSteps(1).build();
    const worker = runtimeOn(store, agent);
    await worker.create({ ...ann, id: 's' });
    expect(await worker.send('s', 'go', waiting)).toMatchObject({ stopReason: 'steps_limit' });
    await clientOn(store, agent).resume('s', { ...ann, grant: { steps: 5 } });
    failAt(1);
    await worker.recover();
    expect(await worker.wait('s', ann)).toMatchObject({ status: 'failed', phase: 'idle' });
    expect(driver.requests).toHaveLength(1);
    expect(await store.nextCommand('s')).toBeNull();
  });
});

/** Reads the stored prompt of a session. */
async function keptPrompt(store: SessionStore, id: string): Promise<string | undefined> {
  const { definition } = JSON.parse((await store.find(id))!.head) as { definition: string };
  const text = async (hash: string): Promise<string> =>
    JSON.parse((await store.blobs(id, [hash]))[0]?.body ?? '') as string;
  const { system } = JSON.parse(await text(definition)) as { system: string };
  return text(system);
}

it('does not store large values beside a value that cannot be written', async () => {
  const store = places[0]![1]({ codec: codecThat(ways[0]![1]) }).open();
  const blobs: BlobRow[] = [];
  const noting: SessionStore = {
    ...store,
    commit(commit) {
      blobs.push(...(commit.blobs ?? []));
      return store.commit(commit);
    },
  };
  const large = 'large '.repeat(20_000);
  const driver = followingDriver([toolCall('say', { a: 'BOOM' }, large)], [final('next')]);
  const runtime = runtimeOn(noting, builderWith(driver, say('fine')).build());
  await runtime.create({ ...ann, id: 's' });
  expect(await runtime.send('s', 'go', waiting)).toMatchObject({ status: 'failed' });
  expect(await runtime.send('s', 'and now?', waiting)).toMatchObject({ output: 'next' });
  expect(blobs.filter(({ body }) => body.includes('large large'))).toEqual([]);
});

it('fails the execution without more tries if PostgreSQL refuses a value', async () => {
  const codec = {
    encode: (text: string): string => (text.includes('BOOM') ? `${text}\0` : text),
    decode: (text: string): string => text,
  };
  let refused = 0;
  const store = openPostgres({ codec });
  const counting: SessionStore = {
    ...store,
    commit: (commit) =>
      store.commit(commit).catch((error: unknown) => {
        refused += 1;
        throw error;
      }),
  };
  const driver = followingDriver([toolCall('say'), final('never')], [final('next')]);
  const runtime = runtimeOn(counting, builderWith(driver, say('BOOM')).build());
  const { id } = await runtime.create(ann);
  const failed = await runtime.send(id, 'go', waiting);
  expect(failed).toMatchObject({ status: 'failed', phase: 'idle', stopReason: 'error' });
  expect(failed.outcome!.decisive!.reason).toContain('cannot be stored');
  expect(refused).toBeLessThanOrEqual(2);
  expect(await runtime.send(id, 'and now?', waiting)).toMatchObject({ output: 'next' });
  await isSound(runtime, id);
});
