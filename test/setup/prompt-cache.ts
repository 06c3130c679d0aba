import { createAnthropic } from '@ai-sdk/anthropic';
import { AgentBuilder, type InferenceDriver, type ModelInput } from 'onward';
import { aiSdk, type AiSdkOptions } from 'onward/drivers/ai-sdk';
import { mockTool, type MockTool } from 'onward/testing';

/** A provider that keeps the requests as they left. */
export interface Wire {
  readonly sent: readonly string[];
  readonly fetch: (url: unknown, init?: RequestInit) => Promise<Response>;
  readonly bodies: () => readonly Record<string, unknown>[];
}

/** Creates a provider that answers in order. */
export function wire(...answers: readonly object[]): Wire {
  const sent: string[] = [];
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    const answer = answers[sent.length];
    sent.push(init?.body as string);
    return answer
      ? Response.json(answer)
      : Response.json({ error: 'no answer is left' }, { status: 400 });
  };
  return {
    sent,
    fetch,
    bodies: () => sent.map((text) => JSON.parse(text) as Record<string, unknown>),
  };
}

export const usage = {
  input_tokens: 10,
  output_tokens: 5,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};
export const claudeSays = (
  stop_reason: string,
  content: readonly object[],
  report: object = usage,
): object => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  model: 'claude-sonnet-4-6',
  content,
  stop_reason,
  usage: report,
});
export const claudeCalls = (n: number, ...more: readonly string[]): object =>
  claudeSays(
    'tool_use',
    [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      ...[`toolu_${n}`, ...more].map((id) => ({
        type: 'tool_use',
        id,
        name: 'lookup',
        input: { n },
      })),
    ],
    {
      ...usage,
      input_tokens: 3,
      cache_read_input_tokens: 1_000 * (n - 1),
      cache_creation_input_tokens: 1_000,
    },
  );
export const claudeEnds: object = claudeSays('end_turn', [{ type: 'text', text: 'Done.' }], {
  ...usage,
  input_tokens: 4,
  cache_read_input_tokens: 2_000,
  cache_creation_input_tokens: 500,
  cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 100 },
});

export const claude = ({ fetch }: Wire, options: AiSdkOptions = {}): InferenceDriver =>
  aiSdk(createAnthropic({ apiKey: 'none', fetch })('claude-sonnet-4-6'), options);

export const lookup: MockTool<'lookup'> = mockTool('lookup', 'found');
export const builder = (model: ModelInput): AgentBuilder<{}, string, 'agent'> =>
  AgentBuilder.base().withModel(model).withSystemPrompt('Be kind.').withTools(lookup);

/** Paths of all marks of a body, with how long they last. */
export function marksIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    key === 'cache_control' && inner !== undefined
      ? [`${path} ${(inner as { ttl?: string }).ttl ?? '5m'}`.trim()]
      : marksIn(inner, path === '' ? key : `${path}.${key}`),
  );
}

export const unmarked = (text: string): string =>
  JSON.stringify(JSON.parse(text), (key, value: unknown) =>
    key === 'cache_control' ? undefined : value,
  );
