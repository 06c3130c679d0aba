/** Exports of a package under `isolatedDeclarations`: a short annotation is enough. */
import { createAgent, defineTool, type Agent, type Tool, type ToolContext } from 'onward';
import { DeterministicDriver } from 'onward/testing';

export interface Crm {
  find(partner: string): string;
}

export const findLeads: Tool<{ crm: Crm }> = defineTool({
  name: 'find_leads',
  description: 'Finds leads of a partner.',
  execute: (_args, { deps }: ToolContext<{ crm: Crm }>) => deps.crm.find('Aurora'),
});

export const seller: Agent<{ crm: Crm }, string> = createAgent({
  name: 'seller',
  driver: DeterministicDriver.fromResponses('hello'),
  tools: [findLeads],
});
