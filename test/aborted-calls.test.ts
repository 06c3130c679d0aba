import { AgentBuilder, AgentState } from 'onward';
import { openai } from 'onward/drivers/openai';
import { modelLimiter } from 'onward/drivers';
import { describe, expect, it } from 'vitest';
import { delta, serve, type Reply } from './setup/loopback.ts';
import { wires } from './setup/provider-wires.ts';
import { ScriptedProvider } from './setup/scripted-provider.ts';

const requestId = 'req_of_the_headers';
/** The header of each provider that has one, by the name of the wire. */
const headerOf = (name: string): string =>
  name.includes('Anthropic') ? 'request-id' : 'x-request-id';

const revived = (state: AgentState): AgentState =>
  AgentState.from(JSON.parse(JSON.stringify(state)));

describe.each(wires)('an aborted call through $name', (wire) => {
  it.each(['as it is', 'through a limiter'])(
    'keeps the id of its request and the model, %s',
    async (how) => {
      const provider = new ScriptedProvider(wire, [{ text: 'Half an answer.', hangs: true }], {
        headers: { [headerOf(wire.name)]: requestId },
      });
      const controller = new AbortController();
      const model =
        how === 'as it is' ? provider.model : modelLimiter({ concurrency: 1 }).wrap(provider.model);
      const running = AgentBuilder.base()
        .withModel(model)
        .build()
        .run('go', { signal: controller.signal, wiretap: () => {} });
      await provider.hanging;
      controller.abort();
      const state = await running;
      expect(state.stopReason).toBe('user_requested');
      expect(state.messages.last()?.text).toBe('Half an answer.');
      for (const { type, modelCall } of [state, revived(state)].flatMap(({ steps }) => [
        ...steps,
      ])) {
        expect(type).toBe('cut');
        expect(modelCall?.requestId).toBe(requestId);
        // the samples of the other wires name no model
        if (/Responses|Anthropic/.test(wire.name))
          expect(modelCall?.model).toMatch(/^(gpt|claude)-/);
      }
    },
  );
});

describe('an aborted call of the OpenAI driver', () => {
  const headers = { 'x-request-id': requestId };
  const part =
    (contentType: string, text: string): Reply =>
    (response) => {
      response.writeHead(200, { 'content-type': contentType, ...headers });
      response.write(text);
    };

  it.each<[string, Reply, boolean, string | undefined]>([
    ['after the headers of a stream', part('text/event-stream', ': waiting\n\n'), true, undefined],
    [
      'after a first chunk without text',
      part(
        'text/event-stream',
        `data: ${JSON.stringify({ ...delta({ role: 'assistant' }), model: 'm-1', id: 'chatcmpl' })}\n\n`,
      ),
      true,
      'm-1',
    ],
    ['in the middle of a body', part('application/json', '{"choices":['), false, undefined],
  ])('keeps its request id %s', async (_when, reply, isStream, model) => {
    const server = await serve(reply);
    const controller = new AbortController();
    const driver = openai('m', { baseURL: server.url });
    const agent = AgentBuilder.base().withDriver(driver).build();
    const running = agent.run('go', {
      signal: controller.signal,
      ...(isStream && { wiretap: () => {} }),
    });
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 100));
    controller.abort();
    const { steps } = await running;
    expect(steps.at(0)).toMatchObject({ type: 'cut', modelCall: { requestId } });
    expect(steps.at(0)?.modelCall?.model).toBe(model);
  });
});

describe('an interrupted call', () => {
  const report = { requestId: 'req_first', model: 'm-1' };

  it('keeps no report of an earlier call of its step', async () => {
    let calls = 0;
    const controller = new AbortController();
    const agent = AgentBuilder.base()
      .withDriver({
        name: 'two',
        async infer(_request, { reported }) {
          calls += 1;
          if (calls === 1) reported?.(report);
          if (calls === 2) controller.abort();
          return { content: 'One.', toolCalls: [], finishReason: 'stop', usage: null };
        },
      })
      .withHooks({
        name: 'again',
        aroundModelCall: async (request, next) => {
          await next(request);
          return next(request);
        },
      })
      .build();
    const state = await agent.run('go', { signal: controller.signal });
    expect(calls).toBe(2);
    expect(JSON.stringify(state.steps.at(0)?.modelCall ?? null)).not.toContain('req_first');
  });
});
