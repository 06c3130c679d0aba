const services = ['crm', 'mailer', 'orders', 'stock', 'bank', 'files', 'search', 'calendar'];
const list = (count: number, item: (i: number) => string, between = '\n'): string =>
  Array.from({ length: count }, (_, i) => item(i)).join(between);
const serviceOf = (i: number): string => services[i % services.length] ?? '';
const typeOf = (service: string): string => service.charAt(0).toUpperCase() + service.slice(1);
const tools = (from: number, to: number): string => list(to - from, (i) => `t${from + i}`, ', ');

/** A program with thirty tools with schemas and five agents, one of which calls all others, to measure compile cost. */
export const thirtyTools = (): string => `
import { AgentBuilder, createAgent, defineTool, type ToolContext } from 'onward';
import { DeterministicDriver } from 'onward/testing';
import * as z from 'zod';
const driver = DeterministicDriver.fromResponses('x');
${services.map((name) => `interface ${typeOf(name)} { get(id: string): Promise<{ id: string; ${name}: number }> }\ndeclare const ${name}: ${typeOf(name)};`).join('\n')}
${list(5, (i) => `const F${i} = z.object({ total${i}: z.number(), lines: z.array(z.object({ text: z.string(), amount: z.number() })), status: z.enum(['ok', 'bad${i}']) });`)}
${list(
  30,
  (i) => `export const t${i} = defineTool({
  name: 'tool_${i}',
  description: 'Tool ${i}.',
  parameters: z.object({ id: z.string(), limit: z.number().default(${i}), tags: z.array(z.string()).optional(), nested: z.object({ a${i}: z.string(), b: z.enum(['x', 'y${i}']) }) }),
  execute: async ({ id, limit, nested }, { deps }: ToolContext<{ ${serviceOf(i)}: ${typeOf(serviceOf(i))} }>) => ({ ...(await deps.${serviceOf(i)}.get(id)), limit, a: nested.a${i} }),
});`,
)}
const a0 = AgentBuilder.base().withName('agent_0').withDriver(driver).withTools(${tools(0, 6)}).withMaxSteps(9).withResponseFormat(F0).build();
const a1 = createAgent({ name: 'agent_1', driver, tools: [${tools(6, 12)}], responseFormat: F1 });
const a2 = AgentBuilder.base().withName('agent_2').withDriver(driver).withTools(${tools(12, 18)}).withMaxSteps(9).withResponseFormat(F2).build();
const a3 = createAgent({ name: 'agent_3', driver, tools: [${tools(18, 30)}], responseFormat: F3 });
const boss = createAgent({
  name: 'boss',
  driver,
  tools: [${tools(0, 30)}, ${list(4, (i) => `a${i}.asTool({ name: 'ask_${i}', description: 'Asks.' })`, ', ')}],
  responseFormat: F4,
});
const state = await boss.run('x', { deps: { ${services.join(', ')} }, activeTools: ['tool_3', 'ask_2'] });
export const total: number | undefined = state.output?.total4;
`;
