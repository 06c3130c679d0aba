import { AgentBuilder } from 'onward';
import { toolSearch } from 'onward/capabilities';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { wires } from './setup/provider-wires.ts';
import { ScriptedProvider } from './setup/scripted-provider.ts';

describe.each(wires.map((wire) => [wire.name, wire] as const))('%s', (_name, wire) => {
  it('gets the call of a found tool back as its model wrote it', async () => {
    const provider = new ScriptedProvider(wire, [
      { calls: [{ name: 'call_tool', args: { name: 'wiki_read', arguments: { page: 7 } } }] },
    ]);
    const agent = AgentBuilder.base()
      .withModel(provider.model)
      .withTools(
        mockTool('wiki_read', 'the page', { parameters: { type: 'object' } }),
        mockTool('wiki_list', 'pages'),
      )
      .withCapability(toolSearch())
      .build();
    const state = await agent.run('go');
    expect(provider.problems).toEqual([]);
    expect(state.steps.at(0)?.toolCalls[0]).toMatchObject({
      name: 'wiki_read',
      args: { page: 7 },
      via: 'call_tool',
    });
    expect(state.steps.at(0)?.results[0]?.value).toBe('the page');
    const [first, second] = provider.bodies.map((body) => JSON.stringify(body));
    expect(first).toContain('search_tools');
    // once as a tool, once as the call; some wires also name it with the result
    const { tools, toolConfig, ...conversation } = provider.bodies[1] ?? {};
    const sent = JSON.stringify(conversation).replaceAll('\\"', '"');
    expect(JSON.stringify({ tools, toolConfig })).not.toContain('wiki_read');
    expect(sent).toMatch(/"(?:name|toolName)":"call_tool"/);
    expect(sent).toContain('{"name":"wiki_read","arguments":{"page":7}}');
    expect(second).toContain('the page');
  });
});
