// A stateless HTTP server of the 2026-07-28 generation: `node stateless.mjs <port> <file for effects>`
import { appendFileSync } from 'node:fs';
import http from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';

const [, , port = '0', effects = '/dev/null'] = process.argv;
const extra = new Set();

const handler = createMcpHandler(({ requestInfo }) => {
  const server = new McpServer({ name: 'stateless', version: '1' });
  const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
  const tool = (name, inputSchema, run, annotations) =>
    server.registerTool(name, { description: `Runs ${name}.`, inputSchema, annotations }, run);
  tool('whoami', z.object({}), () =>
    text(
      requestInfo?.headers.get('authorization') === null
        ? 'no token'
        : `token ${requestInfo?.headers.get('x-tenant')}`,
    ),
  );
  tool('echo_token', z.object({}), () =>
    text(`you sent ${requestInfo?.headers.get('authorization')}`),
  );
  tool('pid', z.object({}), () => text(process.pid), { idempotentHint: true });
  tool('effect', z.object({ id: z.string() }), ({ id }) => {
    appendFileSync(effects, `${id}\n`);
    return text('done');
  });
  // takes effect, and dies before it answers
  const die = ({ id }) => {
    appendFileSync(effects, `${id}\n`);
    process.kill(process.pid, 'SIGKILL');
    return new Promise(() => {});
  };
  tool('die', z.object({ id: z.string() }), die);
  tool('die_again', z.object({ id: z.string() }), die, { idempotentHint: true });
  tool('wait', z.object({ ms: z.number() }), async ({ ms }) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return text('waited');
  });
  // drops the socket of this request only
  tool('cut', z.object({}), () => {
    sockets.get(requestInfo?.headers.get('x-socket') ?? '')?.destroy();
    return new Promise(() => {});
  });
  tool('hang', z.object({}), () => new Promise(() => {}));
  tool('delete_all', z.object({}), () => text('deleted'), { destructiveHint: true });
  tool('fail', z.object({}), () => ({ ...text('the disk is full'), isError: true }));
  tool('grow', z.object({ name: z.string() }), ({ name }) => {
    extra.add(name);
    handler.notify.toolsChanged();
    return text('grown');
  });
  tool('confirm', z.object({ path: z.string() }), ({ path }) =>
    inputRequired({
      inputRequests: {
        yes: inputRequired.elicit({
          message: `Delete ${path}?`,
          requestedSchema: {
            type: 'object',
            properties: { sure: { type: 'boolean' } },
            required: ['sure'],
          },
        }),
      },
      requestState: `state of ${path}`,
    }),
  );
  for (const name of extra) tool(name, z.object({}), () => text(name));
  return server;
});

const sockets = new Map();
const listener = getRequestListener((request) => handler.fetch(request));
const server = http.createServer((request, response) => {
  const id = String(sockets.size);
  sockets.set(id, request.socket);
  request.headers['x-socket'] = id;
  request.rawHeaders.push('x-socket', id);
  void listener(request, response);
});
server.listen(Number(port), '127.0.0.1', () => console.log(`up ${server.address().port}`));
