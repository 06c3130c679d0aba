import { ErrorPolicy, type AgentEvent } from 'onward';
import { uiMessageStream } from 'onward/broadcasting/use-chat';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { builderWith } from '../setup/sessions.ts';
import { chunksOfRun, readRun, script, typesOf } from './use-chat-run.ts';
import { all, readBy, shown } from './use-chat-setup.ts';

const { toolCalls, stream, error } = ScenarioStep;

describe('D56: text of a failed attempt', () => {
  const build = () =>
    builderWith(
      script(
        error(
          { type: 'rate_limit', message: 'slow down', retryAfterMs: 5 },
          { chunks: ['He', 'l'] },
        ),
        stream(['Hello ', 'world']),
      ),
    ).withErrorPolicy(ErrorPolicy.retryAll());

  it('is ended and marked as discarded, and the retry belongs to the same step', async () => {
    const chunks = await chunksOfRun(build());
    const { message, errors } = await readBy(chunks);
    expect(errors).toEqual([]);
    expect(message.parts).toMatchObject([
      { type: 'step-start' },
      {
        type: 'text',
        text: 'Hel',
        state: 'done',
        providerMetadata: { onward: { discarded: true } },
      },
      { type: 'text', text: 'Hello world', state: 'done' },
    ]);
    expect(message.parts[2]).not.toHaveProperty('providerMetadata.onward');
    expect(chunks).toContainEqual({
      type: 'data-onward-retry',
      data: { step: 1, attempt: 1, wait_ms: 5, message: 'slow down' },
      transient: true,
    });
  });

  it('is replaced if a hook changes the text', async () => {
    const { message } = await readRun(
      builderWith(script(stream(['my secret', ' plan']))).withHooks({
        name: 'polite',
        aroundModelCall: async (request, next) => ({ ...(await next(request)), content: 'No.' }),
      }),
    );
    expect(shown(message)).toEqual([
      { type: 'step-start' },
      { type: 'text', text: 'No.', state: 'done' },
    ]);
    expect(message.parts[1]).toMatchObject({ providerMetadata: { onward: { discarded: true } } });
  });

  it('has no gap after a missed chunk and no copy after late chunks', async () => {
    const received: AgentEvent[] = [];
    const agent = builderWith(script(stream(['a', 'b', 'c', 'd']))).build();
    await agent.run('go', { wiretap: (e) => received.push(e) });
    const lossy = async function* () {
      for (const event of received)
        if (!(event.type === 'StreamChunk' && event.content === 'b')) yield event;
    };
    const chunks = await all(uiMessageStream(lossy()));
    expect(chunks.flatMap((c) => (c.type === 'text-delta' ? [c.delta] : []))).toEqual(['a', 'bcd']);
    const late = async function* () {
      yield* received.slice(0, -1);
      yield* received.filter(({ type }) => type === 'StreamChunk');
      yield* received.slice(-1);
    };
    const behind = async function* () {
      const chunks = received.filter(({ type }) => type === 'StreamChunk');
      for (const event of received)
        if (event.type === 'AgentStepCompleted') yield* [...chunks, event];
        else if (event.type !== 'StreamChunk') yield event;
    };
    const stale = await readBy(await all(uiMessageStream(behind())));
    expect(shown(stale.message)).toEqual([
      { type: 'step-start' },
      { type: 'text', text: 'abcd', state: 'done' },
    ]);
    const { message } = await readBy(await all(uiMessageStream(late())));
    expect(shown(message).at(-1)).toMatchObject({ text: 'abcd' });
    expect(message.parts).toHaveLength(2);
  });
});

describe('duplicate events', () => {
  it('D64: change nothing', async () => {
    const agent = builderWith(
      script(
        toolCalls([{ name: 'look' }, { name: 'fail' }, { name: 'none' }, { name: 'pay' }], 'Hm.'),
        stream(['The ', 'end.']),
      ),
      mockTool('look', { n: 7 }),
      mockTool('fail', new Error('it broke')),
      mockTool('pay', 'paid', { needsApproval: true }),
    )
      .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
      .build();
    const received: AgentEvent[] = [];
    const wiretap = (event: AgentEvent): void => void received.push(event);
    const paused = await agent.run('go', { wiretap });
    const [call] = paused.pendingApprovals;
    await agent.resume(paused, { approvals: { [call!.callId]: { approve: true } }, wiretap });
    const once = async function* () {
      yield* received;
    };
    const twice = async function* () {
      for (const event of received) yield* [event, event];
    };
    const plain = await readBy(await all(uiMessageStream(once())));
    const doubled = await readBy(await all(uiMessageStream(twice())));
    expect(doubled).toEqual(plain);
    expect(shown(plain.message)).toHaveLength(8);
    const count = async (events: AsyncIterable<AgentEvent>, type: string) =>
      typesOf(await all(uiMessageStream(events))).filter((one) => one === type).length;
    expect(await count(twice(), 'tool-approval-request')).toBe(1);
    expect(await count(twice(), 'tool-input-available')).toBe(3);
  });
});
