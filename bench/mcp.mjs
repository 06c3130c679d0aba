/**
 * What `mcp()` adds to a call of an MCP tool: the list that a step asks for and the call through our tool, beside
 * `callTool` of the client package against the same server. Prints one JSON line per transport; never fails: figures are
 * not tests.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { mcp } from 'onward/mcp';
import * as z from 'zod';
import { interleaved, round } from './measure.mjs';

/** Most milliseconds that a call may cost in addition. */
const BAR_MS = 0.3;
const file = fileURLToPath(import.meta.url);
const samples = { units: 1, warmUnits: 600, sampleUnits: 100, rounds: 40 };

const made = () => {
  const server = new McpServer({ name: 'bench', version: '1' });
  server.registerTool(
    'add',
    { description: 'Adds.', inputSchema: z.object({ a: z.number(), b: z.number() }) },
    ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }),
  );
  return server;
};

const [, , role] = process.argv;
if (role === 'stdio') serveStdio(made);
else if (role === 'http') {
  const handler = createMcpHandler(made);
  const server = createServer(getRequestListener((request) => handler.fetch(request)));
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
} else await measure();

async function measure() {
  const program = { command: process.execPath, args: [file, 'stdio'] };
  await compare('stdio', { name: 'b', ...program }, () => new StdioClientTransport(program));
  const child = spawn(process.execPath, [file, 'http'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await once(child.stdout, 'data');
  const url = `http://127.0.0.1:${String(said).trim()}/mcp`;
  const transport = () => new StreamableHTTPClientTransport(new URL(url));
  await compare('http', { name: 'b', url }, transport);
  child.kill();
}

async function compare(name, server, transport) {
  const client = new Client(
    { name: 'bench', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  );
  await client.connect(transport());
  const capability = mcp(server);
  const { signal } = new AbortController();
  const step = { owner: null, deps: {}, agentId: 'a', executionId: 'e', signal };
  const context = { signal, input: null, progress() {}, requestInput() {} };
  const args = { a: 2, b: 3 };
  const bare = async () => {
    const { content } = await client.callTool({ name: 'add', arguments: args });
    check(content[0].text);
  };
  const ours = async () => {
    const { tools } = await capability.tools(step);
    check(await tools[0].execute(args, context));
  };
  const { onward_us, bare_us, quiet_rounds } = await interleaved(ours, bare, samples);
  const added_ms = round((onward_us - bare_us) / 1000, 3);
  console.log(
    JSON.stringify({
      name: `mcp call, ${name}`,
      onward_us,
      bare_us,
      added_ms,
      bar_ms: BAR_MS,
      quiet_rounds,
    }),
  );
  await capability.close();
  await client.close();
}

function check(text) {
  if (text !== '5') throw new Error(`The tool returned ${JSON.stringify(text)}, expected 5.`);
}
