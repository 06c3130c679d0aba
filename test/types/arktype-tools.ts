/** A program with arktype tools. The package is installed next to the older compilers. */
export const arktypeTools = (): string => `
import { createAgent, defineTool, type AgentOutput, type Call, type CallsOf } from 'onward';
import { type } from 'arktype';
import { driver, same } from '../fixtures.ts';

const forecast = defineTool({
  name: 'forecast',
  description: 'Returns the weather.',
  parameters: type({ city: 'string', 'days?': 'number' }),
  execute: (args) => {
    same<typeof args, { city: string; days?: number }>();
    // @ts-expect-error there is no such argument
    return args.town as string;
  },
});
same<CallsOf<typeof forecast>, Call<'forecast', { city: string; days?: number }, string>>();

// execute gets the output of a morph, events carry its input
const due = defineTool({
  name: 'due',
  description: 'Takes a date.',
  parameters: type({ on: 'string.date.parse' }),
  execute: ({ on }) => on.getTime(),
});
same<CallsOf<typeof due>['args'], { on: string }>();

const agent = createAgent({ driver, tools: [forecast, due], responseFormat: type({ total: 'number' }) });
same<AgentOutput<typeof agent>, { total: number }>();
`;
