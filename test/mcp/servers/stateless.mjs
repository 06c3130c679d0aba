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
  tool('trace', z.object({}), (_args, ctx) => text(ctx.mcpReq._meta?.traceparent ?? 'none'));
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
  const ask = (message, properties) =>
    inputRequired.elicit({
      message,
      requestedSchema: { type: 'object', properties, required: Object.keys(properties) },
    });
  const given = (ctx, key) => ctx.mcpReq.inputResponses?.[key];
  const stateIn = (ctx) => ctx.mcpReq.requestState();
  tool('confirm', z.object({ path: z.string() }), ({ path }, ctx) => {
    const answer = given(ctx, 'yes');
    if (!answer)
      return inputRequired({
        inputRequests: { yes: ask(`Delete ${path}?`, { sure: { type: 'boolean' } }) },
        requestState: `state of ${path}`,
      });
    if (answer.action !== 'accept') return text(`${answer.action}: kept ${path}`);
    appendFileSync(effects, `${path}\n`);
    return text(`deleted ${path}, sure ${answer.content.sure}, ${stateIn(ctx)}`);
  });
  // asks in rounds: each one has its own questions and a state of the given size
  tool('rounds', z.object({ rounds: z.number(), size: z.number() }), ({ rounds, size }, ctx) => {
    const [done = '0', log = ''] = (stateIn(ctx) ?? '').split('|');
    const number = Number(done);
    const key = `what/${number}`;
    const said = number === 0 ? log : `${log}${given(ctx, key)?.content?.word ?? '?'},`;
    if (number === rounds) return text(said);
    const head = `${number + 1}|${said}|`;
    return inputRequired({
      inputRequests: {
        [`what/${number + 1}`]: ask(`Word ${number + 1}?`, { word: { type: 'string' } }),
      },
      requestState: head + '"'.repeat(Math.max(0, size - head.length)),
    });
  });
  // wants to be called again, without a question
  tool('again', z.object({}), (_args, ctx) =>
    stateIn(ctx) === undefined ? inputRequired({ requestState: 'again' }) : text('at last'),
  );
  tool('keep_token', z.object({}), () =>
    inputRequired({
      inputRequests: { yes: ask('Sure?', { sure: { type: 'boolean' } }) },
      requestState: String(requestInfo?.headers.get('authorization')),
    }),
  );
  tool('visit', z.object({ url: z.string() }), ({ url }, ctx) =>
    given(ctx, 'page')
      ? text(`visited: ${given(ctx, 'page').action}`)
      : inputRequired({
          inputRequests: { page: inputRequired.elicitUrl({ message: 'Sign \u202ehere', url }) },
        }),
  );
  // dies after it has got the answer, or before
  tool('ask_and_die', z.object({ id: z.string() }), ({ id }, ctx) => {
    appendFileSync(effects, `${id}${given(ctx, 'yes') ? ' answered' : ''}\n`);
    if (given(ctx, 'yes')) process.kill(process.pid, 'SIGKILL');
    return inputRequired({
      inputRequests: { yes: ask('Continue?', { sure: { type: 'boolean' } }) },
      requestState: id,
    });
  });
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
