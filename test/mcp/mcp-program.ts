import { createAgent } from 'onward';
import { mcp } from 'onward/mcp';
import { DeterministicDriver } from 'onward/testing';

/** Runs an agent with a server of the given arguments and stays, as an app does: `<how to end> <arg> …`. */
const [, , end = '', ...args] = process.argv;
const agent = createAgent({
  model: DeterministicDriver.fromResponses('done'),
  capabilities: [mcp({ name: 'bad', command: process.execPath, args })],
});
await agent.run('go');
console.log('open');
if (end === 'exit') process.exit(0);
setInterval(() => {}, 1_000);
