import { describe, expect, it } from 'vitest';
import { createAgent, type AnyAgent } from '../../agent/agent.ts';
import type { JsonObject } from '../../json.ts';
import { agentTools } from './agent-tools.ts';

const driver = { name: 'none', infer: () => Promise.reject(new Error('never asked')) };
const agentOf = (name: string, responseFormat?: JsonObject): AnyAgent =>
  createAgent({ name, driver, ...(responseFormat && { responseFormat }) });

/** The schema of the output, and whether a value fits. */
async function outputOf(schema: JsonObject, value: unknown) {
  const [tool] = agentTools([agentOf('a', schema)], undefined).values();
  if (!tool) throw new Error('no tool');
  const { outputSchema } = tool.definition as unknown as {
    outputSchema: { properties: { output: unknown } };
  };
  return { schema: outputSchema.properties.output, fits: await tool.fits(value) };
}

describe('the tools of agents', () => {
  it('have safe names, which stay different', () => {
    const agents = ['clerk', 'a b', 'a_b', 'x'.repeat(100), '__proto__'].map((name) =>
      agentOf(name),
    );
    const names = [...agentTools(agents, undefined).keys()];
    expect(new Set(names).size).toBe(5);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(names).toEqual(expect.arrayContaining(['clerk', 'a_b']));
  });

  it('have the texts that are given, without hidden characters and secrets', () => {
    const agent = agentOf('clerk');
    const description = `Pays \u202eout. api_key=sk-proj-${'aB3d'.repeat(12)}`;
    const [tool] = agentTools([agent], [{ agent, title: 'Clerk', description }]).values();
    expect(tool?.definition).toMatchObject({
      title: 'Clerk',
      description: expect.stringMatching(/^Pays \\u202eout\. (?!.*aB3d)/),
    });
  });

  it('are those of the runtime', () => {
    expect(() => agentTools([agentOf('a')], [agentOf('b')])).toThrow('mcpServer agents has "b"');
    const two = [agentOf('a'), agentOf('b')];
    expect([...agentTools(two, two.slice(1)).keys()]).toEqual(['b']);
  });

  it('keep the references of a schema that moves below "output"', async () => {
    const tree: JsonObject = {
      type: 'object',
      properties: {
        // a field of that name is no reference
        $ref: { type: 'string' },
        next: { $ref: '#/$defs/node' },
        all: { type: 'array', items: { $ref: '#' } },
        kind: { enum: ['#', { $ref: '#' }] },
      },
      $defs: { node: { type: 'object', properties: { id: { type: 'string' } } } },
    };
    const { schema, fits } = await outputOf(tree, { next: { id: 'a' }, all: [] });
    expect(fits).toBe(true);
    expect(schema).toMatchObject({
      properties: {
        $ref: { type: 'string' },
        next: { $ref: '#/properties/output/$defs/node' },
        all: { items: { $ref: '#/properties/output' } },
        kind: { enum: ['#', { $ref: '#' }] },
      },
    });
    expect((await outputOf(tree, { next: { id: 7 } })).fits).toBe(false);
  });

  it.each([
    [{ $id: 'https://example.com/a', type: 'object' }],
    [{ type: 'object', properties: { a: { $anchor: 'x', type: 'string' } } }],
    [{ type: 'object', description: 'x'.repeat(70_000) }],
  ])('offer any output where the schema cannot move: %#', async (schema) => {
    expect((await outputOf(schema, {})).schema).toEqual({});
  });
});
