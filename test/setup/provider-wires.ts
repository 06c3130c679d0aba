import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { ModelInput } from 'onward';
import { aiSdk, type AiSdkModel } from 'onward/drivers/ai-sdk';
import { openai } from 'onward/drivers/openai';
import { chat, responses } from './openai-wires.ts';
import { anthropicProblem, googleProblem } from './provider-checks.ts';
import {
  argsText,
  argsValue,
  callId,
  finishOf,
  pieces,
  type Json,
  type Numbered,
  type Said,
  type Wire,
  type WireOptions,
} from './wire.ts';

export type { Said, Wire } from './wire.ts';

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
  model: 'claude-sonnet-4-5',
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

const blocksOf = (said: Numbered, { n, thought, text, calls = [] } = said): readonly Json[] => [
  ...(thought === undefined
    ? []
    : [{ type: 'thinking', thinking: thought, signature: `sig_${n}` }]),
  ...(text === undefined ? [] : [{ type: 'text', text }]),
  ...calls.map(({ name, args }, i) => ({
    type: 'tool_use',
    id: callId(said, i),
    name,
    input: argsValue(args),
  })),
];

const google: Omit<Wire, 'name' | 'model'> = {
  problem: googleProblem,
  stores: () => [],
  whole: (said) =>
    candidate([...thoughtPart(said.thought), ...textPart(said.text), ...callParts(said)], said),
  stream: (said) => [
    [
      ...thoughtPart(said.thought).map((part) => candidate([part])),
      ...pieces(said.text).map((text) => candidate([{ text }])),
    ],
    [candidate(callParts(said), said)],
  ],
};

const textPart = (text?: string): Json[] => (text === undefined ? [] : [{ text }]);
const thoughtPart = (text?: string): Json[] =>
  text === undefined ? [] : [{ text, thought: true }];
const callParts = (said: Numbered, { n, calls = [] } = said): Json[] =>
  calls.map(({ name, args }, i) => ({
    functionCall: { id: callId(said, i), name, args: argsValue(args) },
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

const url = 'http://127.0.0.1:9/v1';
const apiKey = 'none';

/** A model of the AI SDK as it is, or with options. */
const sdkModel = (model: AiSdkModel, options?: WireOptions): ModelInput =>
  options ? aiSdk(model, options) : model;

export const wires: readonly Wire[] = [
  {
    name: 'OpenAI chat',
    ...chat,
    model: (fetch, options) =>
      openai('gpt-4o', { apiKey, baseURL: url, fetch, api: 'chat', ...options }),
  },
  {
    name: 'OpenAI Responses',
    ...responses,
    model: (fetch, options) =>
      openai('gpt-5', { apiKey, baseURL: url, fetch, api: 'responses', ...options }),
  },
  {
    name: 'AI SDK with OpenAI chat',
    ...chat,
    model: (fetch, options) =>
      sdkModel(createOpenAI({ apiKey, baseURL: url, fetch }).chat('gpt-4o'), options),
  },
  {
    name: 'AI SDK with an OpenAI-compatible server',
    ...chat,
    model: (fetch, options) =>
      sdkModel(
        createOpenAICompatible({ name: 'local', apiKey, baseURL: url, fetch })('qwen'),
        options,
      ),
  },
  {
    name: 'AI SDK with OpenAI Responses',
    ...responses,
    model: (fetch, options) =>
      sdkModel(createOpenAI({ apiKey, baseURL: url, fetch }).responses('gpt-5'), options),
  },
  {
    name: 'AI SDK with Anthropic',
    ...anthropic,
    model: (fetch, options) =>
      sdkModel(createAnthropic({ apiKey, baseURL: url, fetch })('claude-sonnet-4-5'), options),
  },
  {
    name: 'AI SDK with Google',
    ...google,
    model: (fetch, options) =>
      sdkModel(
        createGoogleGenerativeAI({ apiKey, baseURL: url, fetch })('gemini-3-pro-preview'),
        options,
      ),
  },
];
