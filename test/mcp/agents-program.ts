import { runCli } from '../../src/cli/cli.ts';
import { processIo } from '../../src/cli/process-io.ts';
import type { OnwardConfig } from '../../src/cli/config.ts';
import { mcpAgents } from '../setup/mcp-agents.ts';

/** `onward` with the agents of the tests as its config: `<file for effects> <lease in ms> <arguments …>`. */
const [, , effects = '', leaseMs = '', ...argv] = process.argv;
const { io, flush } = processIo();
const agents = mcpAgents(effects);
const config: OnwardConfig = {
  agents,
  name: 'tests',
  lease: { leaseMs: Number(leaseMs), heartbeatMs: Number(leaseMs) / 4 },
};
const code = await runCli(argv, { ...io, config });
await flush();
process.exit(code);
