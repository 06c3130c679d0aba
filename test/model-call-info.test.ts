import { createOpenAI as createOpenAIv2 } from 'ai-sdk-openai-v2';
import { AgentBuilder, AgentState, type AgentEvent, type AgentStep } from 'onward';
import { describe, expect, it } from 'vitest';
import { createOpenAIv4 } from './setup/ai-sdk-v4.ts';
import { chat, responses } from './setup/openai-wires.ts';
import { wires, type Wire } from './setup/provider-wires.ts';
import type { Json } from './setup/wire.ts';

const url = 'http://127.0.0.1:9/v1';
const apiKey = 'none';
const every: readonly Wire[] = [
  ...wires,
  {
    name: 'AI SDK v2 with OpenAI chat',
    ...chat,
    model: (fetch) => createOpenAIv2({ apiKey, baseURL: url, fetch }).chat('gpt-4o'),
  },
  {
    name: 'AI SDK v4 with OpenAI chat',
    ...chat,
    model: (fetch) => createOpenAIv4({ apiKey, baseURL: url, fetch }).chat('gpt-4o'),
  },
  {
    name: 'AI SDK v4 with OpenAI Responses',
    ...responses,
    model: (fetch) => createOpenAIv4({ apiKey, baseURL: url, fetch }).responses('gpt-5'),
  },
];

/** What the API calls the id and the model of an answer. */
const identified = (body: Json): Json => {
  if (body['object'] === 'chat.completion' || body['object'] === 'chat.completion.chunk')
    return { ...body, id: 'answer_1', model: 'gpt-4o-2024-08-06' };
  if (body['object'] === 'response') return { ...body, id: 'answer_1', model: 'gpt-5-2025-08-07' };
  if (body['type'] === 'message') return { ...body, id: 'answer_1' };
  if ('candidates' in body)
    return { ...body, responseId: 'answer_1', modelVersion: 'gemini-3-pro-preview-11-2025' };
  for (const key of ['response', 'message'])
    if (key in body) return { ...body, [key]: identified(body[key] as Json) };
  return body;
};
/** Model that each wire reports; the package for Google has no field for it. */
const answeredBy = ({ name }: Wire): string | undefined => {
  if (name.includes('Google')) return undefined;
  if (name.includes('Anthropic')) return 'claude-sonnet-4-5';
  return name.includes('Responses') ? 'gpt-5-2025-08-07' : 'gpt-4o-2024-08-06';
};

type Answer = (isStream: boolean) => Response | Promise<Response>;

/** Runs one call, and returns its step and its events; the step is also read from JSON. */
async function callOf(wire: Wire, answer: Answer, isStream: boolean) {
  const events: AgentEvent[] = [];
  const model = wire.model(async (input, init) => {
    const body = JSON.parse(init?.body as string) as Json;
    const asksStream = body['stream'] === true || new Request(input).url.includes(':stream');
    expect(asksStream).toBe(isStream);
    return answer(isStream);
  });
  const agent = AgentBuilder.base().withModel(model).build();
  const state = await agent.run(
    'go',
    isStream ? { wiretap: (event: AgentEvent) => events.push(event) } : {},
  );
  const step = state.steps.at(0) as AgentStep;
  const read = AgentState.from(JSON.parse(JSON.stringify(state))).steps.at(0);
  expect(read?.modelCall).toEqual(step.modelCall);
  return { step, events };
}

const sse = (events: readonly Json[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
const inStream = { 'content-type': 'text/event-stream' };
const id = { 'x-request-id': 'req_1' };
const said = { n: 1, text: 'Hello there.' };

const answered =
  (wire: Wire, headers: Record<string, string>): Answer =>
  (isStream) => {
    if (!isStream) return Response.json(identified(wire.whole(said)), { headers });
    const text = sse(wire.stream(said).flat().map(identified));
    return new Response(text, { headers: { ...inStream, ...headers } });
  };

describe.each(every)('the record of a model call: $name', (wire) => {
  describe.each([
    ['whole', false],
    ['streamed', true],
  ] as const)('%s', (_how, isStream) => {
    it('has the model, and the request id of the headers before that of the answer', async () => {
      const { step, events } = await callOf(wire, answered(wire, id), isStream);
      expect(step.type).toBe('final');
      expect(step.modelCall?.model).toBe(answeredBy(wire));
      expect(step.modelCall?.requestId).toBe('req_1');
      expect(step.modelCall?.firstTokenMs !== undefined).toBe(isStream);
      const completed = events.find(({ type }) => type === 'AgentStepCompleted');
      if (isStream) expect(completed).toMatchObject({ modelCall: step.modelCall });
    });

    it('has the id of the answer if no header has one', async () => {
      const { step } = await callOf(wire, answered(wire, {}), isStream);
      expect(step.modelCall?.requestId).toBe('answer_1');
    });

    it.each<[string, Answer, string]>([
      [
        'a refusal',
        () =>
          Response.json(
            { error: { message: 'No such thing.', type: 'x' } },
            { status: 400, headers: id },
          ),
        'invalid_request',
      ],
      [
        'a page of a proxy',
        () =>
          new Response('<html><title>502 Bad Gateway</title></html>', {
            status: 502,
            headers: { ...id, 'content-type': 'text/html' },
          }),
        'server',
      ],
      [
        'a page in place of an answer',
        () =>
          new Response('<html><title>Welcome</title></html>', {
            headers: { ...id, 'content-type': 'text/html' },
          }),
        'unreadable_body',
      ],
    ])('%s has the request id, in the step and in its error', async (_what, answer, code) => {
      const { step, events } = await callOf(wire, answer, isStream);
      expect(step.errors[0]?.code).toBe(code);
      expect(step.errors[0]?.requestId).toBe('req_1');
      expect(step.modelCall?.requestId).toBe('req_1');
      const failed = events.find(({ type }) => type === 'StepFailed');
      if (isStream) expect(failed).toMatchObject({ modelCall: { requestId: 'req_1' } });
    });
  });

  it('has what arrived before the connection broke', async () => {
    const { step } = await callOf(
      wire,
      () => {
        const [begin] = wire.stream({ ...said, breaks: true });
        const bytes = new TextEncoder().encode(sse(begin.map(identified)));
        let isSent = false;
        const body = new ReadableStream<Uint8Array>({
          async pull(controller) {
            if (isSent) {
              // what is queued in the streams of a package is lost with the connection
              await new Promise((resolve) => setTimeout(resolve, 10));
              return controller.error(new TypeError('terminated', { cause: new Error('closed') }));
            }
            isSent = true;
            controller.enqueue(bytes);
          },
        });
        return new Response(body, { headers: { ...inStream, ...id } });
      },
      true,
    );
    expect(step.type).toBe('error');
    expect(step.errors[0]).toMatchObject({ type: 'timeout', requestId: 'req_1' });
    expect(step.modelCall).toMatchObject({ requestId: 'req_1', firstTokenMs: expect.any(Number) });
    expect(step.modelCall?.model).toBe(answeredBy(wire));
  });

  it('has nothing if no connection was made', async () => {
    const { step } = await callOf(
      wire,
      () => {
        throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } });
      },
      false,
    );
    expect(step.errors[0]?.code).toBe('connection_failed');
    expect(step).not.toHaveProperty('modelCall');
    expect(step.errors[0]).not.toHaveProperty('requestId');
  });
});
