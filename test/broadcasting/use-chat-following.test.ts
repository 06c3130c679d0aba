import { type ChatHandlerOptions } from 'onward/broadcasting/use-chat';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  ann,
  builderWith,
  clientOn,
  followingDriver,
  gate,
  memoryPlace,
  pause,
  runtimeOn,
  until,
  waiting,
} from '../setup/sessions.ts';
import { chunksIn, follow, handlerOn, pacedDriver, post, readBy, shown } from './use-chat-setup.ts';
import { submit, world } from './use-chat-world.ts';

const { toolCall, final, stream } = ScenarioStep;

describe('a client that disconnects', () => {
  const paced = (options: Partial<ChatHandlerOptions> = {}) => {
    const hold = gate();
    const driver = pacedDriver(
      { beforePiece: (text) => (text === 'two' ? hold.passed : undefined) },
      [stream(['one ', 'two'])],
    );
    const runtime = runtimeOn(memoryPlace().open(), builderWith(driver).build());
    return { hold, runtime, handler: handlerOn(runtime, options) };
  };
  const readSome = async (response: Response) => {
    const reader = response.body!.getReader();
    let text = '';
    while (!text.includes('one ')) text += new TextDecoder().decode((await reader.read()).value);
    return reader;
  };

  it('D49, D51: does not stop the run', async () => {
    const { hold, runtime, handler } = paced();
    const reader = await readSome(await handler(post(submit('go'))));
    await reader.cancel();
    hold.open();
    expect(await runtime.wait('chat-1', ann)).toMatchObject({
      status: 'completed',
      output: 'one two',
    });
  });

  it('stops the run with stopOnAbort', async () => {
    const { runtime, handler } = paced({ stopOnAbort: true });
    const reader = await readSome(await handler(post(submit('go'))));
    await reader.cancel();
    expect(await runtime.wait('chat-1', ann)).toMatchObject({ stopReason: 'user_requested' });
  });

  it('leaves no subscription', async () => {
    const { hold, runtime, handler } = paced({ pollMs: 60_000 });
    const leaves: unknown[] = [];
    const subscribe = runtime.subscribe.bind(runtime);
    runtime.subscribe = async (...args) => {
      const leave = await subscribe(...args);
      leaves.push('open');
      return () => {
        leaves.pop();
        leave();
      };
    };
    const reader = await readSome(await handler(post(submit('go'))));
    const waits = reader.read();
    await pause(5);
    await reader.cancel();
    await waits;
    hold.open();
    await runtime.wait('chat-1', ann);
    await until(() => leaves.length === 0);
    await chunksIn(await handler(follow('chat-1')));
    expect(leaves).toEqual([]);
  });
});

describe('following a run', () => {
  it('returns 204 if nothing runs', async () => {
    const { runtime, handler } = world([[final('done')]], { replayFinishedMs: 0 });
    await runtime.create({ ...ann, id: 'chat-1' });
    expect((await handler(follow('chat-1'))).status).toBe(204);
    await runtime.send('chat-1', 'go', waiting);
    const response = await handler(follow('chat-1'));
    expect([response.status, await response.text()]).toEqual([204, '']);
  });

  it('replays a recently finished run', async () => {
    const { runtime, handler } = world([[final('done')]]);
    await runtime.create({ ...ann, id: 'chat-1' });
    await runtime.send('chat-1', 'go', waiting);
    const { message } = await readBy(await chunksIn(await handler(follow('chat-1'))));
    expect(shown(message).at(-1)).toMatchObject({ text: 'done' });
  });

  it('keeps the message id after a grant and replaces the stop part', async () => {
    const agent = builderWith(followingDriver([toolCall('look'), final('done')]), mockTool('look'))
      .withMaxSteps(1)
      .build();
    const runtime = runtimeOn(memoryPlace().open(), agent);
    const handler = handlerOn(runtime);
    const { message } = await readBy(await chunksIn(await handler(post(submit('go')))));
    expect(message.parts.at(-1)).toMatchObject({ data: { stop_reason: 'steps_limit' } });
    await runtime.resume('chat-1', { ...waiting, grant: { steps: 5 } });
    const after = await readBy(await chunksIn(await handler(follow('chat-1'))));
    expect(after.message.id).toBe(message.id);
    expect(after.message.parts.filter(({ type }) => type === 'data-onward-stop')).toMatchObject([
      { data: { status: 'completed', stop_reason: 'completed' } },
    ]);
    expect(shown(after.message).at(-1)).toMatchObject({ type: 'text', text: 'done' });
  });

  it('reads a run of another process from the store', async () => {
    const place = memoryPlace();
    const hold = gate();
    const make = () =>
      builderWith(
        followingDriver([toolCall('slow', {}, 'Wait.'), final('done')]),
        mockTool('slow', () => hold.passed.then(() => 'ok')),
      ).build();
    const client = clientOn(place.open(), make());
    const worker = runtimeOn(place.open(), make());
    const handler = handlerOn(client);
    const response = await handler(post(submit('go')));
    await pause(30);
    await worker.recover();
    const [seen, rest] = response.body!.tee();
    const text = seen.pipeThrough(new TextDecoderStream());
    for await (const frame of text) if (frame.includes('Wait.')) break;
    hold.open();
    const { message } = await readBy(await chunksIn(new Response(rest, response)));
    expect(shown(message)).toMatchObject([
      {},
      { text: 'Wait.' },
      { type: 'tool-slow', output: 'ok' },
      {},
      { text: 'done' },
    ]);
  });

  it('ends with an error when the session is deleted', async () => {
    const hold = gate();
    const { runtime, handler } = world(
      [[toolCall('slow'), final('done')]],
      {},
      mockTool('slow', () => hold.passed.then(() => 'ok')),
    );
    const response = await handler(post(submit('go')));
    await until(async () => (await runtime.events('chat-1', ann)).seq > 3);
    await runtime.delete('chat-1', ann);
    hold.open();
    const chunks = await chunksIn(response);
    expect(chunks.at(-1)).toEqual({
      type: 'error',
      errorText: 'This chat no longer exists.',
    });
  });
});
