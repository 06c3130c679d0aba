import { describe, expect, it } from 'vitest';
import { AgentError } from '../errors/agent-error.ts';
import type { InferenceChunk, InferenceRequest } from '../inference/inference-driver.ts';
import { Message } from '../messages/message.ts';
import { Messages } from '../messages/messages.ts';
import { demoModel } from './demo-model.ts';

const request = (text: string): InferenceRequest => ({
  system: 'You help.',
  messages: Messages.from([Message.user(text)]),
  tools: [{ name: 'search_programs', description: 'Finds programs.', parameters: {} }],
  toolChoice: 'auto',
  responseFormat: null,
});

const never = { signal: new AbortController().signal };

async function all(chunks: AsyncIterable<InferenceChunk>): Promise<readonly InferenceChunk[]> {
  const list: InferenceChunk[] = [];
  for await (const chunk of chunks) list.push(chunk);
  return list;
}

describe('demoModel', () => {
  it('returns the same text streamed and whole, in small chunks', async () => {
    const model = demoModel({ pace: 0 });
    const given = request('gold programs');
    const whole = await model.infer(given, never);
    const chunks = await all(model.stream!(given, never));
    const texts = chunks.flatMap((chunk) => (chunk.type === 'content' ? [chunk.text] : []));
    expect(texts.join('')).toBe(whole.content);
    expect(texts.length).toBeGreaterThan(3);
    expect(Math.max(...texts.map((text) => text.length))).toBeLessThan(20);
    const args = chunks.flatMap((chunk) => (chunk.type === 'tool_call' ? [chunk.argsDelta] : []));
    expect(JSON.parse(args.join(''))).toEqual({ tier: 'gold' });
    expect(chunks.at(-1)).toEqual({ type: 'done', response: whole });
    expect(whole).toMatchObject({
      finishReason: 'tool_calls',
      toolCalls: [{ name: 'search_programs', args: { tier: 'gold' } }],
    });
  });

  it('counts tokens by the characters of input and output', async () => {
    const model = demoModel({ pace: 0 });
    const short = await model.infer(request('hi'), never);
    const long = await model.infer(request(`hi${'x'.repeat(4000)}`), never);
    expect(long.usage!.input! - short.usage!.input!).toBe(1000);
    expect(short.usage!.output).toBe(Math.ceil(short.content.length / 4));
    const counted = (await all(model.stream!(request('hi'), never))).flatMap((chunk) =>
      chunk.type === 'usage' ? [chunk.usage.output ?? 0] : [],
    );
    expect(counted).toEqual(counted.toSorted((a, b) => a - b));
    expect(counted.at(-1)).toBe(short.usage!.output);
  });

  it('stops immediately on an abort, before and during the text', async () => {
    const model = demoModel({ pace: 1000 });
    const early = new AbortController();
    const thinking = model.infer(request('hi'), early);
    early.abort(new Error('enough'));
    await expect(thinking).rejects.toThrow('enough');
    await expect(model.infer(request('hi'), early)).rejects.toThrow('enough');

    const late = new AbortController();
    const slow = demoModel({ pace: 1 }).stream!(request('hi'), late)[Symbol.asyncIterator]();
    expect((await slow.next()).value).toMatchObject({ type: 'content' });
    await slow.next();
    const next = slow.next();
    late.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
  });

  it('refuses a message once, with the error of a real driver', async () => {
    const model = demoModel({ pace: 1 / 25 });
    const given = request('gold programs and act busy');
    const refused = await model.infer(given, never).catch((error: unknown) => error);
    expect(AgentError.is(refused, 'model_call_failed')).toBe(true);
    expect((refused as AgentError).details['report']).toMatchObject({
      type: 'rate_limit',
      status: 429,
      retryAfterMs: 80,
      retryable: true,
    });
    expect((await model.infer(given, never)).toolCalls).toHaveLength(1);
    await expect(model.infer(request('act busy'), never)).rejects.toThrow('429');
  });

  it('has no other state: two models give the same answer to the same conversation', async () => {
    const given = request('Which programs renew this quarter?');
    const [a, b] = [demoModel({ pace: 0 }), demoModel({ pace: 0 })];
    await a.infer(request('something else'), never);
    expect(await a.infer(given, never)).toEqual(await b.infer(given, never));
  });
});
