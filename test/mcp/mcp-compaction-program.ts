import { SessionRuntime } from 'onward';
import { sqliteStore } from 'onward/stores/sqlite';
import { compactingAgent } from './mcp-compaction-agent.ts';

/** Works on sessions until it is killed: `<database> <url of the server>`. */
const [, , path = '', url = ''] = process.argv;
const runtime = new SessionRuntime({
  store: sqliteStore({ path }),
  agents: [compactingAgent(url)],
  lease: { leaseMs: 900, heartbeatMs: 300 },
  onError: () => {},
});
runtime.start();
console.log('begun');
setInterval(() => {}, 1_000);
