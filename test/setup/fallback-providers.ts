import { createAnthropic } from '@ai-sdk/anthropic';
import type { ModelInput } from 'onward';
import { aiSdk } from 'onward/drivers/ai-sdk';
import { openai } from 'onward/drivers/openai';

export type Body = Record<string, unknown>;

/** A provider that gives these answers in order, and keeps the bodies of the requests. */
export function provider(...answers: readonly (() => Response)[]): {
  readonly fetch: typeof fetch;
  readonly bodies: Body[];
} {
  const bodies: Body[] = [];
  const left = [...answers];
  return {
    bodies,
    fetch: async (_url, init) => {
      bodies.push(JSON.parse(init?.body as string) as Body);
      return left.shift()?.() ?? Response.error();
    },
  };
}

export const quota = (): Response =>
  Response.json(
    { error: { message: 'You exceeded your current quota.', code: 'insufficient_quota' } },
    { status: 429 },
  );
export const responsesCall = (): Response =>
  Response.json({
    status: 'completed',
    output: [
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'secret-of-one' },
      { type: 'function_call', call_id: 'call_a', name: 'look', arguments: '{}' },
    ],
  });
export const responsesText = (): Response =>
  Response.json({
    status: 'completed',
    output: [{ type: 'message', content: [{ type: 'output_text', text: 'Done.' }] }],
  });
export const claudeCall = (): Response =>
  Response.json({
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    model: 'claude',
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 'signed-by-one' },
      { type: 'tool_use', id: 'toolu_a', name: 'look', input: {} },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 1 },
  });
export const claudeText = (): Response =>
  Response.json({
    type: 'message',
    id: 'msg_2',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text: 'Done.' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  });
export const claudeQuota = (): Response =>
  Response.json(
    { type: 'error', error: { type: 'billing_error', message: 'Your credit balance is too low.' } },
    { status: 402 },
  );
export const chatCall = (): Response =>
  Response.json({
    choices: [
      {
        finish_reason: 'tool_calls',
        message: {
          reasoning_details: [{ type: 'reasoning.encrypted', data: 'signed-by-one' }],
          tool_calls: [
            { id: 'call_a', type: 'function', function: { name: 'look', arguments: '{}' } },
          ],
        },
      },
    ],
  });
export const chatText = (): Response =>
  Response.json({ choices: [{ message: { content: 'Done.' } }] });

export const gpt = (apiKey: string, fetch: typeof globalThis.fetch, name = 'gpt-5'): ModelInput =>
  openai(name, { apiKey, fetch });
export const claude = (
  fetch: typeof globalThis.fetch,
  { name = 'claude-sonnet-4-5', account }: { name?: string; account?: string } = {},
): ModelInput =>
  aiSdk(createAnthropic({ apiKey: 'x', fetch })(name), {
    providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } },
    ...(account !== undefined && { account }),
  });
