import fc from 'fast-check';
import { AgentBuilder, Message, SessionRuntime } from 'onward';
import type { InferenceDriver, InferenceChunk, InferenceResponse } from 'onward/drivers';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { never } from './setup/abort-trap.ts';
import { byKey, byLook, leakIn, ours, redactor } from './setup/canary.ts';
import { builder, driven, Received, quick } from './setup/message-events.ts';

const { toolCall, final, error } = ScenarioStep;

/** A model that streams its reasoning in these pieces, then answers. */
function thinking(
  pieces: readonly string[],
  answer: Partial<InferenceResponse> = {},
  beforeDone: () => void = () => {},
): InferenceDriver {
  const content = answer.content ?? 'Yes.';
  const response = { content, toolCalls: [], finishReason: 'stop', usage: null, ...answer };
  return {
    name: 'thinking',
    infer: () => never,
    async *stream(): AsyncGenerator<InferenceChunk> {
      for (const text of pieces) yield { type: 'reasoning', text };
      if (content !== '') yield { type: 'content', text: content };
      beforeDone();
      yield { type: 'done', response: { ...response, reasoning: pieces.join('') } };
    },
  };
}

const shownBy = (received: Received): string =>
  received
    .of('ReasoningDelta')
    .map(({ content }) => content)
    .join('');

describe('ReasoningDelta', () => {
  it('streams the reasoning before the text, and the final message has all of it', async () => {
    const received = new Received();
    const state = await driven(thinking(['First ', 'this.', ' Then that.']))
      .build()
      .run('Hi', received.options);
    const message = state.messages.at(-1)!;
    const step = { messageId: message.id, stepNumber: 1, attempt: 1 };
    expect(received.of('ReasoningDelta')).toMatchObject([
      { ...step, index: 0, content: 'First ', offset: 0 },
      { ...step, index: 1, content: 'this.', offset: 6 },
      { ...step, index: 2, content: ' Then that.', offset: 11 },
    ]);
    expect(message).toMatchObject({ text: 'Yes.', reasoning: 'First this. Then that.' });
    expect(received.of('MessageAdded').at(-1)).toMatchObject({
      content: 'Yes.',
      reasoning: 'First this. Then that.',
    });
    expect(received.types.lastIndexOf('ReasoningDelta')).toBeLessThan(
      received.types.indexOf('StreamChunk'),
    );
  });

  it('is emitted once, before the text, if the driver does not stream', async () => {
    const { infer } = DeterministicDriver.fromSteps(final('Yes.', { reasoning: 'Well.' }));
    const received = new Received();
    await driven({ name: 'whole', infer }).build().run('Hi', received.options);
    expect(received.types.filter((type) => /Delta|Chunk/.test(type))).toEqual([
      'ReasoningDelta',
      'StreamChunk',
    ]);
  });

  it('makes the driver stream only for its own listeners', async () => {
    const run = async (type: 'ReasoningDelta' | 'MessageAdded') => {
      const driver = DeterministicDriver.fromSteps(final('Yes.', { reasoning: 'Well.' }));
      const agent = driven(driver).build();
      let received = 0;
      agent.on(type, () => (received += 1));
      await agent.run('Hi');
      return [received, driver.requests[0]?.streamed];
    };
    expect(await run('ReasoningDelta')).toEqual([1, true]);
    expect(await run('MessageAdded')).toEqual([2, false]);
  });

  it('is not emitted without reasoning', async () => {
    const received = new Received();
    const state = await builder('Yes.').build().run('Hi', received.options);
    expect(received.types).not.toContain('ReasoningDelta');
    expect(received.of('MessageAdded').at(-1)).not.toHaveProperty('reasoning');
    expect(state.messages.at(-1)).toMatchObject({ reasoning: null, metadata: {} });
    expect(Message.user('x', { metadata: { reasoning: 'forged' } }).reasoning).toBeNull();
  });
});

describe('reasoning in MessageAdded', () => {
  it('is emitted before the tools start, also without text', async () => {
    const received = new Received();
    const agent = builder(toolCall('stock', {}, '', { reasoning: 'I should look.' }), 'Seven.')
      .withTools(mockTool('stock', 7))
      .build();
    await agent.run('Lamps?', received.options);
    const reported = received
      .of('MessageAdded')
      .map(({ content, reasoning }) => [content, reasoning]);
    expect(reported).toEqual([
      ['Lamps?', undefined],
      ['', 'I should look.'],
      ['Seven.', undefined],
    ]);
    const place = received.events.findIndex((e) => e.type === 'MessageAdded' && e.stepNumber === 1);
    expect(place).toBeLessThan(received.types.indexOf('ToolCallStarted'));
  });

  it('is truncated without a partial secret, while the message keeps all of it', async () => {
    const secret = ` ${byLook} `;
    const long = 'a'.repeat(32_760) + secret + 'b '.repeat(40_000);
    const received = new Received();
    const agent = driven(thinking([long]))
      .withRedactor(redactor)
      .build();
    const state = await agent.run('Hi', received.options);
    const { reasoning = '' } = received.of('MessageAdded').at(-1)!;
    expect(reasoning.length).toBe(32_768);
    expect(reasoning.endsWith('…')).toBe(true);
    expect(reasoning).not.toMatch(/sk-|CANARY/);
    expect(state.messages.at(-1)?.reasoning).toBe(long);
  });

  it('has the part that arrived before an abort', async () => {
    const controller = new AbortController();
    const received = new Received();
    const driver = thinking(['One ', 'two'], { content: 'Ye' }, () => controller.abort('enough'));
    const state = await driven(driver)
      .build()
      .run('Hi', { ...received.options, signal: controller.signal });
    expect(state.messages.at(-1)).toMatchObject({ text: 'Ye', reasoning: 'One two' });
    expect(received.of('MessageAdded').at(-1)).toMatchObject({
      content: 'Ye',
      reasoning: 'One two',
    });
  });
});

describe('discarded reasoning', () => {
  it('is discarded when its attempt fails, and the next attempt starts at offset 0', async () => {
    const received = new Received();
    const agent = builder(
      error('broken', { reasoning: 'Lost.' }),
      final('Yes.', { reasoning: 'Found.' }),
    )
      .withErrorPolicy(quick)
      .build();
    await agent.run('Hi', received.options);
    expect(received.of('StreamDiscarded')).toMatchObject([{ stepNumber: 1, attempt: 1 }]);
    expect(
      received
        .of('ReasoningDelta')
        .map(({ content, offset, attempt }) => [content, offset, attempt]),
    ).toEqual([
      ['Lost.', 0, 1],
      ['Found.', 0, 2],
    ]);
  });

  it('is discarded when a hook calls the model again in the same attempt', async () => {
    const received = new Received();
    const agent = builder(final('No.', { reasoning: 'A' }), final('Yes.', { reasoning: 'B' }))
      .withHooks({
        name: 'twice',
        aroundModelCall: async (request, next) => (await next(request), next(request)),
      })
      .build();
    const state = await agent.run('Hi', received.options);
    const [first, second] = received.of('ReasoningDelta');
    expect(first).toMatchObject({ content: 'A', offset: 0, index: 0 });
    expect(first).not.toHaveProperty('restart');
    expect(second).toMatchObject({ content: 'B', offset: 0, index: 1, restart: 1 });
    expect(state.messages.at(-1)?.reasoning).toBe('B');
  });
});

describe('secrets in reasoning', () => {
  const text = `Use ${byLook} for ${ours}, password: "${byKey.replaceAll(' ', '_')}" and go.`;

  it('are never shown, however the pieces are split', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(text.length), { maxLength: 12 }), async (cuts) => {
        const ends = [...cuts, text.length].toSorted((a, b) => a - b);
        const pieces = ends.map((end, i) => text.slice(ends[i - 1] ?? 0, end));
        const received = new Received();
        const agent = driven(thinking(pieces)).withRedactor(redactor).build();
        const state = await agent.run('Hi', received.options);
        expect(leakIn(JSON.stringify(received.events))).toBeNull();
        expect(shownBy(received)).not.toContain('sk-');
        expect(shownBy(received)).toMatch(/^Use s?k?\[redacted\] .* and go\.$/);
        expect(state.messages.at(-1)?.reasoning).toBe(text);
      }),
      { numRuns: 60 },
    );
  });

  it('are not in the session log, which has complete reasoning and no deltas', async () => {
    const agent = AgentBuilder.base()
      .withName('a')
      .withRedactor(redactor)
      .withDriver(thinking([text.slice(0, 20), text.slice(20)]))
      .build();
    const runtime = new SessionRuntime({ store: memoryStore(), agents: [agent] });
    const types = new Set<string>();
    runtime.wiretap(({ event }) => types.add(event.type));
    const { id } = await runtime.create({ owner: 'ann' });
    await runtime.send(id, 'Hi', { owner: 'ann', wait: true });
    const { events } = await runtime.events(id, { owner: 'ann' });
    await runtime.close();
    expect(types).toContain('ReasoningDelta');
    expect(events.map(({ event }) => event.type)).not.toContain('ReasoningDelta');
    const added = events.flatMap(({ event }) => (event.type === 'MessageAdded' ? event : []));
    expect(added.at(-1)?.reasoning).toBe(redactor.text(text));
    expect(leakIn(JSON.stringify(events))).toBeNull();
  });
});
