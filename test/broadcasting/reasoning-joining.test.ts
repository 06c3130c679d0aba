import type { SessionRuntime } from 'onward';
import { BroadcastConfig, readRefill, sseHub, type Envelope } from 'onward/broadcasting';
import type { UiMessageChunk } from 'onward/broadcasting/use-chat';
import { newUiState, reduceEnvelope, reduceRefill, type UiState } from 'onward/ui';
import { describe, expect, it } from 'vitest';
import { ann, builderWith, memoryPlace, runtimeOn, until } from '../setup/sessions.ts';
import { Speaker } from '../setup/speaker.ts';
import { connect, liveOn, SseClient } from '../setup/sse.ts';
import { channel, chunk, envelope } from './sse-samples.ts';
import { follow, handlerOn } from './use-chat-setup.ts';

/** Returns the visible reasoning and text of the unfinished answer. */
const unfinishedText = ({ messages }: UiState): string => {
  const row = messages.find(({ metadata }) => metadata.streaming);
  return `${row?.metadata.reasoning ?? ''}|${row?.content ?? ''}`;
};

/** A client that connects during an answer. */
interface Joiner {
  readonly shown: () => string | Promise<string>;
  readonly leave: () => Promise<unknown>;
}

const joiners: Record<string, (runtime: SessionRuntime, on: boolean) => Promise<Joiner>> = {
  async sse(runtime, on) {
    const config = on ? BroadcastConfig.debug() : BroadcastConfig.standard();
    const client = (await connect(liveOn(runtime, { config }), 's1')).follow();
    const shown = (): string =>
      unfinishedText(client.envelopes.reduce(reduceEnvelope, newUiState()));
    return { shown, leave: () => client.leave() };
  },
  async refill(runtime, on) {
    const config = on ? BroadcastConfig.debug() : BroadcastConfig.standard();
    const shown = async (): Promise<string> =>
      unfinishedText(
        reduceRefill(newUiState(), await readRefill(runtime, 's1', { ...ann, config })),
      );
    return { shown, leave: async () => {} };
  },
  async useChat(runtime, on) {
    const response = await handlerOn(runtime, { includeReasoning: on })(follow('s1'));
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    let text = '';
    const read = async (): Promise<void> => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        text += decoder.decode(value, { stream: true });
      }
    };
    void read();
    const deltas = (type: 'reasoning-delta' | 'text-delta'): string =>
      text
        .split('\n\n')
        .slice(0, -1)
        .filter((frame) => frame.startsWith('data: {'))
        .map((frame) => JSON.parse(frame.slice(6)) as UiMessageChunk)
        .map((one) => (one.type === type ? one.delta : ''))
        .join('');
    const shown = (): string => `${deltas('reasoning-delta')}|${deltas('text-delta')}`;
    return { shown, leave: () => reader.cancel() };
  },
};

/** Starts a run with a listener and a model that the test controls. */
async function running(isAskedTwice = false) {
  const speaker = new Speaker();
  const builder = builderWith(speaker);
  const agent = isAskedTwice
    ? builder.withHooks({
        name: 'twice',
        aroundModelCall: async (request, next) => (await next(request), next(request)),
      })
    : builder;
  const runtime = runtimeOn(memoryPlace().open(), agent.build());
  const received: string[] = [];
  runtime.wiretap(({ event }) => {
    if (event.type === 'ReasoningDelta' || event.type === 'StreamChunk')
      received.push(event.content);
  });
  await runtime.create({ ...ann, id: 's1' });
  const { executionId } = await runtime.send('s1', 'go', ann);
  const ended = runtime.wait('s1', ann);
  /** Waits until the worker has streamed the text. */
  const reported = (text: string): Promise<unknown> =>
    until(() => received.join('').endsWith(text));
  return { speaker, runtime, executionId, ended, reported };
}

describe.each(Object.entries(joiners))('over %s', (_name, join) => {
  it('a client that connects at any time shows the reasoning and text so far, and the rest', async () => {
    const { speaker, runtime, ended, reported } = await running();
    const present: Joiner[] = [];
    let reasoning = '';
    let text = '';
    for (const piece of ['First ', 'this. ', 'Then ', 'that. ', '|All ', 'is ']) {
      const isText = piece.startsWith('|') || text !== '';
      const said = piece.replace('|', '');
      if (isText) speaker.say(said);
      else speaker.thinks(said);
      if (isText) text += said;
      else reasoning += said;
      await reported(said);
      present.push(await join(runtime, true));
      for (const { shown } of present)
        await until(async () => (await shown()) === `${reasoning}|${text}`);
    }
    speaker.ends('All is well.');
    await ended;
    for (const { leave } of present) await leave();
  });

  it('hides reasoning if the config excludes it', async () => {
    const { speaker, runtime, ended, reported } = await running();
    speaker.thinks('Private ', 'thoughts. ');
    await reported('thoughts. ');
    const client = await join(runtime, false);
    speaker.say('All ');
    await until(async () => (await client.shown()) === '|All ');
    speaker.ends('All is well.');
    await ended;
    await client.leave();
  });

  it('shows a restarted answer from its new start', async () => {
    const { speaker, runtime, ended, reported } = await running(true);
    speaker.thinks('Void. ');
    speaker.say('No ');
    speaker.ends('No no.');
    speaker.thinks('Better. ');
    speaker.say('Yes ');
    await reported('Better. Yes ');
    const client = await join(runtime, true);
    await until(async () => (await client.shown()) === 'Better. |Yes ');
    speaker.ends('Yes yes.');
    await ended;
    await client.leave();
  });
});

describe('a refill during reasoning', () => {
  it('has the reasoning as one chunk if the config includes reasoning and chunks', async () => {
    const { speaker, runtime, executionId, ended, reported } = await running();
    speaker.thinks('First ', 'this. ');
    await reported('this. ');
    const read = async (config: BroadcastConfig) =>
      (await readRefill(runtime, 's1', { ...ann, config })).unfinished;
    expect(await read(BroadcastConfig.debug())).toMatchObject([
      {
        type: 'agent.reasoning.chunk',
        execution_id: executionId,
        seq: null,
        payload: { content: 'First this. ', offset: 0, step: 1, attempt: 1 },
      },
    ]);
    expect(await read(BroadcastConfig.standard())).toBeUndefined();
    expect(await read(BroadcastConfig.minimal({ includeReasoning: true }))).toBeUndefined();
    speaker.ends('Done.');
    await ended;
    expect(await read(BroadcastConfig.debug())).toBeUndefined();
  });
});

describe('sseHub', () => {
  it('keeps unfinished reasoning from its start until the message is complete', async () => {
    const hub = sseHub();
    const thought = (content: string, offset: number): Envelope =>
      envelope(null, {
        type: 'agent.reasoning.chunk',
        payload: { message_id: 'm1', step: 1, attempt: 1, content, offset },
      });
    const pieces = [thought('First ', 0), thought('this.', 6)];
    // the chunk before "lost" is missing
    for (const one of [...pieces, thought('lost', 40), chunk(0, 'All ')])
      hub.broadcast(channel, one);
    const read = async (): Promise<readonly Envelope[]> => {
      const client = new SseClient(await hub.open('s1'));
      await client.read();
      await client.leave();
      return client.envelopes;
    };
    expect(await read()).toEqual([...pieces, chunk(0, 'All ')]);
    hub.broadcast(channel, envelope(4));
    expect(await read()).toEqual([]);
    hub.close();
  });
});
