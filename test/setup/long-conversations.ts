import { AgentBuilder, defineTool, type InferenceDriver, type Message, type Tool } from 'onward';
import type { InferenceRequest, InferenceResponse } from 'onward/drivers';
import { estimateTokens } from '../../src/inference/estimate-tokens.ts';
import { modelCallFailed } from '../../src/inference/inference-error.ts';

/** A request as it was sent. */
export interface SentRequest extends Omit<InferenceRequest, 'messages'> {
  readonly messages: readonly Message[];
}

export interface LongModel extends InferenceDriver {
  /** Requests of the agent, and those for summaries. */
  readonly requests: readonly SentRequest[];
  readonly summaries: readonly SentRequest[];
}

interface LongModelOptions {
  /** Answers a request of the agent. `n` counts from 0. Default: calls `look` once per user message, then answers. */
  readonly answer?: (request: SentRequest, n: number) => Partial<InferenceResponse>;
  /** Answers a request for a summary; a thrown error fails the call. */
  readonly summary?: (request: SentRequest, n: number) => Partial<InferenceResponse>;
  /** Refuses longer requests of the agent as too long. */
  readonly window?: number;
  readonly contextWindow?: number;
  /** Whether usage is reported. */
  readonly reports?: boolean;
}

export const isSummaryRequest = ({ system }: Pick<InferenceRequest, 'system'>): boolean =>
  system?.startsWith('You keep the record') === true;

/** Text of a message. */
export const textOf = ({ text }: Message): string => text;

export const call = (
  name: string,
  args: Readonly<Record<string, unknown>> = {},
): Partial<InferenceResponse> => ({ toolCalls: [{ name, args }], finishReason: 'tool_calls' });

const lookOnce = ({ messages }: SentRequest): Partial<InferenceResponse> =>
  messages.at(-1)?.isTool() ? { content: 'Found it.' } : call('look');

/** Creates a model that counts tokens as the estimate does. */
export function longModel({
  answer = lookOnce,
  summary = (_, n) => ({ content: `Summary ${n}.` }),
  window = Number.POSITIVE_INFINITY,
  contextWindow,
  reports = true,
}: LongModelOptions = {}): LongModel {
  const requests: SentRequest[] = [];
  const summaries: SentRequest[] = [];
  const infer = async (request: InferenceRequest): Promise<InferenceResponse> => {
    const isSummary = isSummaryRequest(request);
    const sent = { ...request, messages: [...request.messages] };
    const list = isSummary ? summaries : requests;
    list.push(sent);
    const input = estimateTokens(request);
    if (!isSummary && input > window)
      throw modelCallFailed({
        type: 'model',
        code: 'context_length',
        message: `${input} tokens are more than ${window}`,
        retryable: false,
      });
    const said = (isSummary ? summary : answer)(sent, list.length - 1);
    return {
      content: '',
      toolCalls: [],
      finishReason: 'stop',
      usage: reports ? { input, output: 10 } : null,
      cost: 0.001,
      ...said,
    };
  };
  return {
    name: 'long',
    ...(contextWindow !== undefined && { contextWindow }),
    infer,
    requests,
    summaries,
  };
}

/** A tool with a result of many characters, or as many as the call asks for. */
const look = (characters: number = 2_000): Tool =>
  defineTool({
    name: 'look',
    description: 'Looks something up.',
    parameters: {
      type: 'object',
      properties: { page: { type: 'number' }, characters: { type: 'integer', minimum: 0 } },
    },
    execute: (args, { callId }) =>
      `${callId} ${JSON.stringify(args)} ${'x'.repeat(args.characters ?? Math.max(0, characters))}`,
  });

export const longAgent = (
  model: InferenceDriver,
  characters?: number,
): AgentBuilder<{}, string, 'agent'> =>
  AgentBuilder.base()
    .withModel(model)
    .withSystemPrompt('You help.')
    .withTools(look(characters))
    .withMaxSteps(1_000);
