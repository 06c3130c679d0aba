import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import type { ModelInput } from 'onward';
import { openai } from 'onward/drivers/openai';
import { completion, delta, toolCall } from './loopback.ts';
import {
  anthropicProblem,
  chatProblem,
  googleProblem,
  responsesProblem,
  type BodyCheck,
} from './provider-checks.ts';

type Json = Record<string, unknown>;

/** A model answer, independent of any provider. */
export interface Said {
  readonly thought?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args?: string | Json }[];
  readonly finish?: 'length' | 'content_filter' | 'refusal';
  /** Sends nothing after the text and leaves the connection open. */
  readonly hangs?: true;
  /** Breaks the connection after the text. */
  readonly breaks?: true;
  /** Fails with this status instead. */
  readonly status?: number;
}

interface Numbered extends Said {
  readonly n: number;
}

/** The API of a provider. */
export interface Wire {
  readonly name: string;
  model(fetch: typeof globalThis.fetch): ModelInput;
  readonly problem: BodyCheck;
  whole(said: Numbered): Json;
  /** The events up to the end of the text, and the rest. */
  stream(said: Numbered): readonly [readonly Json[], readonly Json[]];
  /** Item ids that later requests may refer to once the answer is complete. */
  stores(said: Numbered): readonly string[];
}

const url = 'http://127.0.0.1:9/v1';
const apiKey = 'none';
const argsText = (args: string | Json = {}): string =>
  typeof args === 'string' ? args : JSON.stringify(args);
const argsValue = (args: string | Json = {}): unknown => {
  try {
    return JSON.parse(argsText(args));
  } catch {
    return args;
  }
};
const callId = (n: number, i: number): string => `call_${n}_${i}`;
const finishOf = ({ finish, calls }: Said): string => finish ?? (calls ? 'calls' : 'stop');

const chat: Omit<Wire, 'name' | 'model'> = {
  problem: chatProblem,
  stores: () => [],
  whole(said) {
    const calls = said.calls?.map(({ name, args }, i) => toolCall(name, args, callId(said.n, i)));
    const refusal = said.finish === 'refusal' ? { refusal: 'I will not.' } : null;
    const message = { content: said.text ?? null, ...(calls && { tool_calls: calls }), ...refusal };
    return completion(message, chatFinish[finishOf(said)]);
  },
  stream(said) {
    const calls = said.calls?.map(({ name, args }, index) =>
      delta({ tool_calls: [{ index, ...toolCall(name, args, callId(said.n, index)) }] }),
    );
    const refusal = said.finish === 'refusal' ? [delta({ refusal: 'I will not.' })] : [];
    return [
      [delta({ role: 'assistant' }), ...pieces(said.text).map((text) => delta(text))],
      [...(calls ?? []), ...refusal, delta({}, chatFinish[finishOf(said)], { usage: chatUsage })],
    ];
  },
};
const chatUsage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const chatFinish: Json & Record<string, string> = {
  calls: 'tool_calls',
  stop: 'stop',
  refusal: 'stop',
  length: 'length',
  content_filter: 'content_filter',
};

const pieces = (text = ''): string[] => text.match(/.{1,5}/gs) ?? [];

const responses: Omit<Wire, 'name' | 'model'> = {
  problem: responsesProblem,
  stores: (said) => outputOf(said).map(({ id }) => String(id)),
  whole: (said) => ({ ...responseOf(said), output: outputOf(said) }),
  stream(said) {
    const response = responseOf(said);
    const created = { type: 'response.created', response: { ...response, status: 'in_progress' } };
    const events = outputOf(said).map((item, output_index): readonly Json[] => {
      const added = { type: 'response.output_item.added', output_index, item: emptied(item) };
      const done = { type: 'response.output_item.done', output_index, item };
      if (item['type'] !== 'message') return [added, done];
      const deltas = pieces(said.text).map((text) => ({
        type: 'response.output_text.delta',
        item_id: item['id'],
        output_index,
        content_index: 0,
        delta: text,
      }));
      return [added, ...deltas, done];
    });
    const cut = events.findIndex((list) => list.length > 2) + 1;
    const end = {
      type: said.finish === 'length' ? 'response.incomplete' : 'response.completed',
      response,
    };
    const begin = events.slice(0, cut).flat();
    if (said.hangs || said.breaks) begin.pop();
    return [
      [created, ...begin],
      [...events.slice(cut).flat(), end],
    ];
  },
};

const emptied = (item: Json): Json => ({
  ...item,
  ...(item['type'] === 'message' && { content: [] }),
  ...(item['type'] === 'function_call' && { arguments: '' }),
});

function responseOf({ n, finish }: Numbered): Json {
  const reason = finish === 'length' ? 'max_output_tokens' : finish;
  const isTruncated = finish === 'length' || finish === 'content_filter';
  return {
    id: `resp_${n}`,
    object: 'response',
    created_at: 1,
    model: 'gpt-5',
    status: isTruncated ? 'incomplete' : 'completed',
    incomplete_details: isTruncated ? { reason } : null,
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  };
}

function outputOf({ n, thought, text, calls = [], finish }: Numbered): readonly Json[] {
  const part =
    finish === 'refusal'
      ? { type: 'refusal', refusal: 'I will not.' }
      : { type: 'output_text', text, annotations: [] };
  const message = { type: 'message', id: `msg_${n}`, role: 'assistant', status: 'completed' };
  return [
    ...(thought === undefined
      ? []
      : [
          {
            type: 'reasoning',
            id: `rs_${n}`,
            summary: [{ type: 'summary_text', text: thought }],
            encrypted_content: `secret_${n}`,
          },
        ]),
    ...(text === undefined && finish !== 'refusal' ? [] : [{ ...message, content: [part] }]),
    ...calls.map(({ name, args }, i) => ({
      type: 'function_call',
      id: `fc_${n}_${i}`,
      call_id: callId(n, i),
      name,
      arguments: argsText(args),
      status: 'completed',
    })),
  ];
}

const anthropic: Omit<Wire, 'name' | 'model'> = {
  problem: anthropicProblem,
  stores: ({ n }) => [`sig_${n}`],
  whole: (said) => ({
    ...anthropicHead,
    content: blocksOf(said),
    stop_reason: anthropicFinish[finishOf(said)],
  }),
  stream(said) {
    const message = { ...anthropicHead, content: [], stop_reason: null };
    const begin: Json[] = [{ type: 'message_start', message }];
    const rest: Json[] = [];
    for (const [index, block] of blocksOf(said).entries()) {
      const out = block['type'] === 'tool_use' ? rest : begin;
      const deltas =
        block['type'] === 'text'
          ? pieces(said.text).map((text) => ({ type: 'text_delta', text }))
          : block['type'] === 'tool_use'
            ? [{ type: 'input_json_delta', partial_json: argsText(said.calls?.[0]?.args) }]
            : [
                { type: 'thinking_delta', thinking: said.thought },
                { type: 'signature_delta', signature: `sig_${said.n}` },
              ];
      const start = { ...block, text: '', thinking: '', signature: '', input: {} };
      out.push({ type: 'content_block_start', index, content_block: start });
      for (const delta of deltas) out.push({ type: 'content_block_delta', index, delta });
      const stays = (said.hangs || said.breaks) && block['type'] === 'text';
      if (!stays) out.push({ type: 'content_block_stop', index });
    }
    const delta = { stop_reason: anthropicFinish[finishOf(said)], stop_sequence: null };
    rest.push({ type: 'message_delta', delta, usage: { output_tokens: 5 } });
    return [begin, [...rest, { type: 'message_stop' }]];
  },
};

const anthropicHead = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  model: 'claude',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
};
const anthropicFinish: Record<string, string> = {
  calls: 'tool_use',
  stop: 'end_turn',
  refusal: 'refusal',
  length: 'max_tokens',
  content_filter: 'refusal',
};

const blocksOf = ({ n, thought, text, calls = [] }: Numbered): readonly Json[] => [
  ...(thought === undefined
    ? []
    : [{ type: 'thinking', thinking: thought, signature: `sig_${n}` }]),
  ...(text === undefined ? [] : [{ type: 'text', text }]),
  ...calls.map(({ name, args }, i) => ({
    type: 'tool_use',
    id: callId(n, i),
    name,
    input: argsValue(args),
  })),
];

const google: Omit<Wire, 'name' | 'model'> = {
  problem: googleProblem,
  stores: () => [],
  whole: (said) => candidate([...textPart(said.text), ...callParts(said)], said),
  stream: (said) => [
    pieces(said.text).map((text) => candidate([{ text }])),
    [candidate(callParts(said), said)],
  ],
};

const textPart = (text?: string): Json[] => (text === undefined ? [] : [{ text }]);
const callParts = ({ n, calls = [] }: Numbered): Json[] =>
  calls.map(({ name, args }, i) => ({
    functionCall: { name, args: argsValue(args) },
    ...(i === 0 && { thoughtSignature: `sig_${n}` }),
  }));
const candidate = (parts: readonly Json[], said?: Said): Json => ({
  candidates: [
    {
      ...(parts.length > 0 && { content: { role: 'model', parts } }),
      ...(said && { finishReason: googleFinish[finishOf(said)] }),
    },
  ],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
});
const googleFinish: Record<string, string> = {
  calls: 'STOP',
  stop: 'STOP',
  refusal: 'PROHIBITED_CONTENT',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
};

export const wires: readonly Wire[] = [
  {
    name: 'OpenAI chat',
    ...chat,
    model: (fetch) => openai('gpt-4o', { apiKey, baseURL: url, fetch, api: 'chat' }),
  },
  {
    name: 'OpenAI Responses',
    ...responses,
    model: (fetch) => openai('gpt-5', { apiKey, baseURL: url, fetch, api: 'responses' }),
  },
  {
    name: 'AI SDK with OpenAI chat',
    ...chat,
    model: (fetch) => createOpenAI({ apiKey, baseURL: url, fetch }).chat('gpt-4o'),
  },
  {
    name: 'AI SDK with OpenAI Responses',
    ...responses,
    model: (fetch) => createOpenAI({ apiKey, baseURL: url, fetch }).responses('gpt-5'),
  },
  {
    name: 'AI SDK with Anthropic',
    ...anthropic,
    model: (fetch) => createAnthropic({ apiKey, baseURL: url, fetch })('claude'),
  },
  {
    name: 'AI SDK with Google',
    ...google,
    model: (fetch) => createGoogleGenerativeAI({ apiKey, baseURL: url, fetch })('gemini'),
  },
];
