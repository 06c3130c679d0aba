import { SessionRuntime } from 'onward';
import { broadcastSessions, memoryBroadcaster, readRefill } from 'onward/broadcasting';
import type { SessionStore } from 'onward/stores';
import { ScenarioStep } from 'onward/testing';
import { connectSession, type EnvelopeSource, type SessionView } from 'onward/ui';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  ann,
  builderWith,
  clientOn,
  gate,
  memoryPlace,
  runtimeOn,
  until,
} from '../setup/sessions.ts';
import { chunksIn, handlerOn, pacedDriver, post } from './use-chat-setup.ts';
import { submit } from './use-chat-world.ts';

const lease = { leaseMs: 200, heartbeatMs: 50, signalMs: 20 };

/** A worker that says "Once " and then dies, another one that can take over, and a process that only serves. */
function stage() {
  const place = memoryPlace();
  const isSaid = gate();
  const hold = gate();
  const stopped = (): Promise<void> => {
    isSaid.open();
    return hold.passed;
  };
  const pace = {
    beforePiece: (text: string) => (text === 'upon a time.' ? stopped() : undefined),
  };
  const driver = pacedDriver(pace, [ScenarioStep.stream(['Once ', 'upon a time.'])]);
  // without a reader, the process that dies asks for the whole answer
  const infer: typeof driver.infer = async (...request) => {
    await stopped();
    return driver.infer(...request);
  };
  const agent = builderWith({ ...driver, infer }).build();
  let isDead = false;
  const mortal = new Proxy(place.open(), {
    get: (store, name: keyof SessionStore) =>
      isDead ? () => Promise.reject(new Error('the process is gone')) : store[name],
  });
  const dying = new SessionRuntime({ store: mortal, agents: [agent], lease, onError: () => {} });
  onTestFinished(() => dying.close({ graceMs: 0 }));
  dying.start();
  return {
    dying,
    web: clientOn(place.open(), agent, { lease }),
    kill: () => void (isDead = true),
    said: isSaid.passed,
    takeOver() {
      hold.open();
      const next = runtimeOn(place.open(), agent, { lease });
      next.start();
      return next;
    },
  };
}

describe('a worker that dies', () => {
  it('is a part of the message that useChat shows, and so is the next worker', async () => {
    const { web, kill, said, takeOver } = stage();
    const response = await handlerOn(web)(post(submit('A story, please.')));
    const [first, second] = response.body!.tee();
    const reader = first.getReader();
    let text = '';
    const isShown = async (part: string): Promise<void> => {
      while (!text.includes(part)) {
        const { done, value } = await reader.read();
        expect(done).toBe(false);
        text += new TextDecoder().decode(value);
      }
    };
    await said;
    await isShown('"start"');
    kill();
    await isShown('"data-onward-worker"');
    takeOver();
    const chunks = await chunksIn(new Response(second, response));
    await reader.cancel();
    const notices = chunks.filter(({ type }) => type === 'data-onward-worker');
    expect(notices).toEqual(
      ['lost', 'found'].map((state) => ({
        type: 'data-onward-worker',
        data: { status: state },
        transient: true,
      })),
    );
    expect(chunks.at(-1)).toMatchObject({ type: 'finish' });
  });

  it('is seen by a reader of a channel, which asks for the log when nothing comes', async () => {
    const { dying, web, kill, said, takeOver } = stage();
    const broadcaster = memoryBroadcaster();
    const broadcasts = [broadcastSessions(dying, { broadcaster })];
    const { id } = await web.create(ann);
    const source: EnvelopeSource = {
      open(sink) {
        const leave = broadcaster.subscribe(`agent.${id}`, (envelope) => sink.envelope(envelope));
        sink.connection('live');
        return leave;
      },
      refill: (place) => readRefill(web, id, { ...ann, ...place }),
    };
    let view: SessionView | undefined;
    const quiet = { minMs: 30, maxMs: 60 };
    const shown = connectSession(source, (next) => (view = next), { quiet });
    await web.send(id, 'A story, please.', ann);
    await said;
    await until(() => view?.state.messages.at(-1)?.content === 'Once ');
    kill();
    await until(() => view?.state.isWorkerLost);
    expect(view?.state.messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'A story, please.'],
      ['assistant', 'Once '],
      ['status', 'The worker stopped answering. Waiting for another worker…'],
    ]);
    const { unfinished, execution_id } = await readRefill(web, id, ann);
    expect(unfinished).toEqual([
      expect.objectContaining({
        type: 'agent.worker',
        execution_id,
        seq: null,
        payload: { status: 'lost' },
      }),
    ]);
    broadcasts.push(broadcastSessions(takeOver(), { broadcaster }));
    await until(() => view?.state.status === 'completed');
    expect(view?.state.isWorkerLost).toBe(false);
    expect(view?.state.messages.at(-1)?.content).toBe('Once upon a time.');
    expect((await readRefill(web, id, ann)).unfinished).toBeUndefined();
    shown.close();
    await Promise.all(broadcasts.map((one) => one.close()));
  });
});
