import { AgentBuilder } from 'onward';
import { openai } from 'onward/drivers/openai';
import { mockTool } from 'onward/testing';
import { expect, it, vi } from 'vitest';
import { modelScript, withModelScript } from './setup/model-script.ts';

const agent = AgentBuilder.base()
  .withModel('openai:gpt-5')
  .withTools(mockTool('search', 'nothing'))
  .build();
const script = 'search {"query":"a; b"}; "Nothing found; sorry."';

it('scripts a run, with and without streaming, and restores fetch', async () => {
  const { fetch } = globalThis;
  const texts: string[] = [];
  const wiretap = (event: { type: string; content?: unknown }): void => {
    if (event.type === 'StreamChunk') texts.push(String(event.content));
  };
  for (const options of [{}, { wiretap }]) {
    const state = await withModelScript(script, () => agent.run('go', options));
    expect(state).toMatchObject({ status: 'completed', output: 'Nothing found; sorry.' });
  }
  expect(texts.filter(Boolean)).toEqual(['Nothing ', 'found; ', 'sorry.']);
  expect(globalThis.fetch).toBe(fetch);
  expect(process.env['OPENAI_API_KEY']).not.toBe('sk-scripted');
});

it.each([
  ['openai:gpt-5', 'https://api.openai.com/v1/responses', 'input'],
  [openai('gpt-5', { api: 'chat' }), 'https://api.openai.com/v1/chat/completions', 'messages'],
])('answers the API that the model of a sample speaks: %s', async (model, address, field) => {
  for (const options of [{}, { wiretap: () => {} }]) {
    const asked: [string, Record<string, unknown>][] = [];
    await withModelScript(script, async () => {
      const scripted = globalThis.fetch;
      vi.stubGlobal('fetch', (input: RequestInfo | URL, init?: RequestInit) => {
        asked.push([String(input), JSON.parse(String(init?.body)) as Record<string, unknown>]);
        return scripted(input, init);
      });
      const other = AgentBuilder.base().withModel(model).withTools(mockTool('search', 'nothing'));
      expect((await other.build().run('go', options)).output).toBe('Nothing found; sorry.');
    });
    expect(asked.map(([url]) => url)).toEqual([address, address]);
    for (const [, body] of asked) expect(body).toHaveProperty(field);
  }
});

it('fails if the run uses fewer answers than the script has', async () => {
  await expect(withModelScript(`${script}; "More."`, () => agent.run('go'))).rejects.toThrow(
    'asked the model 2 times. Its script has 3 answers',
  );
});

it.each(['search', '{"query":"a"}', 'search "a"', 'null'])('rejects the step %s', (step) => {
  expect(() => modelScript(step)).toThrow(`The model script has "${step}"`);
});
