import { SessionRuntime } from 'onward';
import { sqliteStore } from 'onward/stores/sqlite';
import { sessionAgent } from './mcp-session-agent.ts';

/** Begins a session that waits for a person, says so, and stays: `<database> <url of the server> <tool>`. */
const [, , path = '', url = '', tool = ''] = process.argv;
const args = tool === 'ask_clerk' ? { input: 'Pay.' } : { path: '/x', id: 'paid' };
const { agent } = sessionAgent(url, [[tool, args]]);
const runtime = new SessionRuntime({ store: sqliteStore({ path }), agents: [agent] });
const { id } = await runtime.create({ id: 's', owner: 'ann' });
const session = await runtime.send(id, 'go', { owner: 'ann', wait: true });
console.log(`waiting ${session.pause?.kind ?? session.status}`);
setInterval(() => {}, 1_000);
