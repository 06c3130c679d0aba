import { AgentBuilder, AgentState, defineTool, toolContent, type ContentPart } from 'onward';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { wires } from './setup/provider-wires.ts';
import { ScriptedProvider } from './setup/scripted-provider.ts';

/** An address of a cloud's secrets, which a user, a tool or a model may give. */
const inner = 'http://169.254.169.254/latest/meta-data';
const svg = btoa('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');

afterEach(() => vi.restoreAllMocks());

describe.each(wires.map((wire) => [wire.name, wire] as const))('%s', (_name, wire) => {
  it.each<[string, ContentPart]>([
    ['an image', { type: 'image', url: `${inner}/a.png` }],
    ['a PDF', { type: 'file', url: `${inner}/a.pdf`, mediaType: 'application/pdf' }],
    ['a file', { type: 'file', url: inner }],
  ])('%s by its address, of a user and of a tool, is not fetched', async (_what, part) => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    const provider = new ScriptedProvider(wire, [{ calls: [{ name: 'look' }] }]);
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      parameters: z.object({}),
      execute: () => toolContent([{ type: 'text', text: 'Seen.' }, part]),
    });
    const agent = AgentBuilder.base().withModel(provider.model).withTools(look).build();
    const state = await agent.run(
      AgentState.empty().withUserMessage([{ type: 'text', text: 'Read it.' }, part]),
    );
    expect(state.output).toBe('next');
    expect(provider.problems).toEqual([]);
    expect(provider.paths).toHaveLength(2);
    expect(provider.paths.filter((path) => path.includes('meta-data'))).toEqual([]);
    expect(fetched).not.toHaveBeenCalled();
    const [, body] = provider.bodies.map((sent) => JSON.stringify(sent));
    expect(body).toContain(inner);
    expect(body).not.toContain('"file_data":"http');
  });

  it('a vector graphic of a user is a short text, which no later turn is rejected for', async () => {
    const provider = new ScriptedProvider(wire, []);
    const agent = AgentBuilder.base().withModel(provider.model).build();
    const state = await agent.run(
      AgentState.empty().withUserMessage([
        { type: 'text', text: 'Describe it.' },
        { type: 'image', data: svg, mediaType: 'image/svg+xml' },
      ]),
    );
    expect(state.output).toBe('next');
    const [body] = provider.bodies.map((sent) => JSON.stringify(sent));
    expect(body).toContain('[Image (image/svg+xml) left out: models read no vector graphics.]');
    expect(body).not.toContain(svg);
  });
});
