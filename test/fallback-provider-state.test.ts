import { AgentBuilder, type ModelInput } from 'onward';
import { openai } from 'onward/drivers/openai';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  chatCall,
  chatText,
  claude,
  claudeCall,
  claudeQuota,
  claudeText,
  gpt,
  provider,
  quota,
  responsesCall,
  responsesText,
} from './setup/fallback-providers.ts';

async function fallsBack(first: ModelInput, second: ModelInput): Promise<void> {
  const agent = AgentBuilder.base()
    .withModel(first)
    .withFallback(second)
    .withTools(mockTool('look', 'seen'))
    .build();
  const state = await agent.run('go');
  expect(state).toMatchObject({ status: 'completed', output: 'Done.' });
  expect(state.steps.toJSON().map(({ type }) => type)).toEqual(['tool_calls', 'error', 'final']);
}

describe('the state of a provider after a fallback', () => {
  it('encrypted reasoning goes back to its own account', async () => {
    const one = provider(responsesCall, responsesText);
    const state = await AgentBuilder.base()
      .withModel(gpt('sk-one', one.fetch))
      .withTools(mockTool('look', 'seen'))
      .build()
      .run('go');
    expect(state.output).toBe('Done.');
    expect(JSON.stringify(one.bodies[1])).toContain('secret-of-one');
    expect(JSON.stringify(state)).not.toContain('sk-one');
  });

  it.each<[string, string, string]>([
    ['another account', 'sk-two', 'gpt-5'],
    ['another model', 'sk-one', 'gpt-5-mini'],
  ])('encrypted reasoning does not go to %s, the call does', async (_what, key, name) => {
    const one = provider(responsesCall, quota);
    const two = provider(responsesText);
    await fallsBack(gpt('sk-one', one.fetch), gpt(key, two.fetch, name));
    const sent = JSON.stringify(two.bodies[0]);
    expect(sent).not.toContain('secret-of-one');
    expect(two.bodies[0]?.['input']).toMatchObject([
      { role: 'user' },
      { type: 'function_call', name: 'look' },
      { type: 'function_call_output' },
    ]);
  });

  it('encrypted reasoning goes to a dated name of the same model', async () => {
    const one = provider(responsesCall, quota);
    const two = provider(responsesText);
    await fallsBack(gpt('sk-one', one.fetch), gpt('sk-one', two.fetch, 'gpt-5-2025-08-07'));
    expect(JSON.stringify(two.bodies[0])).toContain('secret-of-one');
  });

  it('Claude continues the calls of another provider with thinking off', async () => {
    const one = provider(responsesCall, quota);
    const two = provider(claudeText);
    await fallsBack(gpt('sk-one', one.fetch), claude(two.fetch));
    expect(two.bodies[0]).not.toMatchObject({ thinking: { type: 'enabled' } });
    expect(JSON.stringify(two.bodies[0])).not.toContain('secret-of-one');
  });

  it('Claude continues its own calls with thinking on', async () => {
    const one = provider(claudeCall, claudeText);
    const state = await AgentBuilder.base()
      .withModel(claude(one.fetch))
      .withTools(mockTool('look', 'seen'))
      .build()
      .run('go');
    expect(state.output).toBe('Done.');
    expect(one.bodies[1]?.['thinking']).toMatchObject({ type: 'enabled' });
    expect(JSON.stringify(one.bodies[1])).toContain('signed-by-one');
  });

  it.each([
    ['another model', { name: 'claude-haiku-4-5' }],
    ['another account', { account: 'second' }],
  ])('signed thinking does not go to %s of the same provider', async (_what, other) => {
    const one = provider(claudeCall, claudeQuota);
    const two = provider(claudeText);
    await fallsBack(claude(one.fetch), claude(two.fetch, other));
    expect(JSON.stringify(two.bodies[0])).not.toContain('signed-by-one');
    expect(two.bodies[0]).not.toMatchObject({ thinking: { type: 'enabled' } });
  });

  it.each([
    ['another model does not get', 'other/model', false],
    ['the same model gets', 'some/model', true],
  ])('%s signed reasoning details of a Chat Completions server', async (_what, name, isSent) => {
    const one = provider(chatCall, quota);
    const two = provider(chatText);
    const chat = (model: string, fetch: typeof globalThis.fetch): ModelInput =>
      openai(model, { baseURL: 'https://openrouter.ai/api/v1', apiKey: 'x', fetch });
    await fallsBack(chat('some/model', one.fetch), chat(name, two.fetch));
    expect(JSON.stringify(two.bodies[0]).includes('signed-by-one')).toBe(isSent);
  });

  it('Gemini 3 gets the documented signature for calls of another model', async () => {
    const one = provider(responsesCall, quota);
    const two = provider(chatText);
    const gemini = openai('gemini-3-pro-preview', {
      baseURL: 'https://generativelanguage.googleapis.com/v1beta/openai',
      apiKey: 'x',
      fetch: two.fetch,
    });
    await fallsBack(gpt('sk-one', one.fetch), gemini);
    const google = { thought_signature: 'skip_thought_signature_validator' };
    expect(two.bodies[0]?.['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ extra_content: { google } }] },
      { role: 'tool' },
    ]);
  });
});
