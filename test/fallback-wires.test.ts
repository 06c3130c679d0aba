import { createAnthropic } from '@ai-sdk/anthropic';
import { AgentBuilder } from 'onward';
import { aiSdk } from 'onward/drivers/ai-sdk';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  claude,
  claudeText,
  gpt,
  provider,
  quota,
  responsesCall,
  responsesText,
} from './setup/fallback-providers.ts';

describe('requests of a fallback model', () => {
  it('D83: the cache marks of the fallback model leave on its wire', async () => {
    const one = provider(quota);
    const two = provider(claudeText);
    const marked = aiSdk(createAnthropic({ apiKey: 'x', fetch: two.fetch })('claude'), {
      systemOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    });
    await AgentBuilder.base()
      .withModel(gpt('sk-one', one.fetch))
      .withFallback(marked)
      .withSystemPrompt('Be kind.')
      .build()
      .run('go');
    expect(two.bodies[0]?.['system']).toEqual([
      { type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } },
    ]);
  });

  it('D87: a blank text of the failed model is not sent to the next one', async () => {
    const blank = () =>
      Response.json({
        status: 'completed',
        output: [
          { type: 'message', content: [{ type: 'output_text', text: ' \n' }] },
          { type: 'function_call', call_id: 'call_a', name: 'look', arguments: '{}' },
        ],
      });
    const one = provider(blank, quota);
    const two = provider(claudeText);
    const state = await AgentBuilder.base()
      .withModel(gpt('sk-one', one.fetch))
      .withFallback(claude(two.fetch))
      .withTools(mockTool('look', 'seen'))
      .build()
      .run('go');
    expect(state.output).toBe('Done.');
    const { messages } = two.bodies[0] as { messages: { content: { type: string }[] }[] };
    expect(messages[1]?.content.map(({ type }) => type)).toEqual(['tool_use']);
  });

  it('D89: a response format leaves closed and strict on the wire of each model', async () => {
    const text = JSON.stringify({ city: 'Ghent' });
    const answer = () =>
      Response.json({
        status: 'completed',
        output: [{ type: 'message', content: [{ type: 'output_text', text }] }],
      });
    const one = provider(quota);
    const two = provider(answer);
    const state = await AgentBuilder.base()
      .withModel(gpt('sk-one', one.fetch))
      .withFallback(gpt('sk-two', two.fetch, 'gpt-5-mini'))
      .withResponseFormat(z.object({ city: z.string() }))
      .build()
      .run('go');
    expect(state.output).toEqual({ city: 'Ghent' });
    for (const { bodies } of [one, two])
      expect(bodies[0]).toMatchObject({
        text: { format: { strict: true, schema: { additionalProperties: false } } },
      });
  });

  it('the fallback model gets the calls under ids that its wire accepts', async () => {
    const one = provider(responsesCall, quota);
    const two = provider(responsesText);
    await AgentBuilder.base()
      .withModel(gpt('sk-one', one.fetch))
      .withFallback(gpt('sk-two', two.fetch))
      .withTools(mockTool('look', 'seen'))
      .build()
      .run('go');
    const { input } = two.bodies[0] as { input: { call_id?: string }[] };
    const ids = input.flatMap(({ call_id }) => call_id ?? []);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });
});
