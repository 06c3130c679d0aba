/**
 * What reading a streamed answer costs: 10,000 deltas through each driver, beside the SDK that it stands on alone.
 * The network is a `fetch` in memory. Prints one JSON line per case; never fails: figures are not tests.
 */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { Messages } from 'onward';
import { aiSdk } from 'onward/drivers/ai-sdk';
import { openai } from 'onward/drivers/openai';
import { OpenAI } from 'openai';
import { median, round } from './measure.mjs';

const DELTAS = 10_000;
const ROUNDS = 5;
const WARM_ROUNDS = 2;
const MAX_RATIO = 1.5;
const WORD = 'words ';

const settings = { apiKey: 'none', baseURL: 'http://127.0.0.1:9/v1' };
/** Each call its own: the SDK leaves its listener on a signal. */
const fresh = () => new AbortController().signal;
const messages = Messages.from([{ role: 'user', content: 'hi' }]);
const request = { system: null, messages, tools: [], toolChoice: 'auto', responseFormat: null };
const prompt = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }];

const frame = (value, event) =>
  `${event ? `event: ${event}\n` : ''}data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;

function chatFrames() {
  const chunk = (delta, finish_reason = null, more = {}) =>
    frame({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason }],
      ...more,
    });
  return [
    ...Array.from({ length: DELTAS }, () => chunk({ content: WORD })),
    chunk({}, 'stop', { usage: { prompt_tokens: 1, completion_tokens: DELTAS } }),
    frame('[DONE]'),
  ];
}

function responseFrames() {
  const send = (value) => frame(value, value.type);
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress' };
  return [
    send({ type: 'response.created', response: { id: 'r1', status: 'in_progress', output: [] } }),
    send({
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...message, content: [] },
    }),
    ...Array.from({ length: DELTAS }, (_, i) =>
      send({ type: 'response.output_text.delta', sequence_number: i, ...at, delta: WORD }),
    ),
    send({
      type: 'response.completed',
      response: {
        id: 'r1',
        object: 'response',
        status: 'completed',
        usage: { input_tokens: 1, output_tokens: DELTAS, total_tokens: DELTAS + 1 },
      },
    }),
  ];
}

function messageFrames() {
  const send = (value) => frame(value, value.type);
  return [
    send({
      type: 'message_start',
      message: {
        type: 'message',
        id: 'm1',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    }),
    send({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...Array.from({ length: DELTAS }, () =>
      send({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: WORD } }),
    ),
    send({ type: 'content_block_stop', index: 0 }),
    send({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: DELTAS },
    }),
    send({ type: 'message_stop' }),
  ];
}

/** Answers every request with the same bytes, so many events in one read. */
function served(frames, eventsPerRead) {
  const encoder = new TextEncoder();
  const reads = [];
  for (let i = 0; i < frames.length; i += eventsPerRead)
    reads.push(encoder.encode(frames.slice(i, i + eventsPerRead).join('')));
  return async () => {
    let next = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (next < reads.length) controller.enqueue(reads[next++]);
        else controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
}

async function throughDriver(driver) {
  let length = 0;
  for await (const chunk of driver.stream(request, { signal: fresh() }))
    if (chunk.type === 'content') length += chunk.text.length;
  return length;
}

async function throughModel(model) {
  let length = 0;
  const { stream } = await model.doStream({ prompt, abortSignal: fresh() });
  for await (const part of stream) if (part.type === 'text-delta') length += part.delta.length;
  return length;
}

async function throughOpenAI(client) {
  let length = 0;
  const stream = await client.chat.completions.create(
    { model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true },
    { signal: fresh() },
  );
  for await (const chunk of stream) length += chunk.choices[0]?.delta?.content?.length ?? 0;
  return length;
}

async function throughResponses(client) {
  let length = 0;
  const stream = await client.responses.create(
    { model: 'm', input: 'hi', stream: true },
    { signal: fresh() },
  );
  for await (const event of stream)
    if (event.type === 'response.output_text.delta') length += event.delta.length;
  return length;
}

const cases = [
  {
    driver: 'openai',
    frames: chatFrames(),
    sdk: (fetch) => {
      const client = new OpenAI({ ...settings, fetch, maxRetries: 0 });
      return () => throughOpenAI(client);
    },
    ours: (fetch) => openai('m', { ...settings, fetch, api: 'chat' }),
  },
  {
    driver: 'openai (responses)',
    frames: responseFrames(),
    sdk: (fetch) => {
      const client = new OpenAI({ ...settings, fetch, maxRetries: 0 });
      return () => throughResponses(client);
    },
    ours: (fetch) => openai('m', { ...settings, fetch, api: 'responses' }),
  },
  {
    driver: 'ai-sdk (openai chat)',
    frames: chatFrames(),
    sdk: (fetch) => () => throughModel(createOpenAI({ ...settings, fetch }).chat('m')),
    ours: (fetch) => aiSdk(createOpenAI({ ...settings, fetch }).chat('m')),
  },
  {
    driver: 'ai-sdk (anthropic)',
    frames: messageFrames(),
    sdk: (fetch) => () => throughModel(createAnthropic({ ...settings, fetch })('m')),
    ours: (fetch) => aiSdk(createAnthropic({ ...settings, fetch })('m')),
  },
];

async function timed(read) {
  const before = performance.now();
  const length = await read();
  if (length !== DELTAS * WORD.length) throw new Error(`read ${length} characters`);
  return ((performance.now() - before) * 1000) / DELTAS;
}

for (const { driver, frames, sdk, ours } of cases)
  for (const eventsPerRead of [1, 16]) {
    const fetch = served(frames, eventsPerRead);
    const readers = { sdk: sdk(fetch), onward: () => throughDriver(ours(fetch)) };
    const figures = { sdk: [], onward: [] };
    for (let i = -WARM_ROUNDS; i < ROUNDS; i++)
      for (const [name, read] of Object.entries(readers)) {
        const us = await timed(read);
        if (i >= 0) figures[name].push(us);
      }
    const [alone, through] = [median(figures.sdk), median(figures.onward)];
    // both of one round saw the same machine
    const ratio = round(median(figures.onward.map((us, i) => us / figures.sdk[i])));
    console.log(
      JSON.stringify({
        case: 'driver',
        driver,
        deltas: DELTAS,
        events_per_read: eventsPerRead,
        sdk_us_per_delta: round(alone),
        onward_us_per_delta: round(through),
        ratio,
        pass: ratio <= MAX_RATIO,
      }),
    );
  }
