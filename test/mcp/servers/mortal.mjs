// A stdio server that is killed once, at the point that its first argument names. It speaks JSON-RPC by hand.
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , point = '', file = '/dev/null'] = process.argv;
const write = (message) => {
  const line = `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
  return new Promise((resolve) => process.stdout.write(line, resolve));
};
const half = (message) => {
  const line = JSON.stringify({ jsonrpc: '2.0', ...message });
  return new Promise((resolve) => process.stdout.write(line.slice(0, line.length / 2), resolve));
};
const dieAt = (here) => {
  if (here !== point || readFileSync(file, 'utf8').includes('killed')) return;
  appendFileSync(file, 'killed\n');
  process.kill(process.pid, 'SIGKILL');
};
const isNext = (here) => here === point && !readFileSync(file, 'utf8').includes('killed');

dieAt('start');
createInterface({ input: process.stdin }).on('line', (line) => {
  void answer(JSON.parse(line));
});

async function answer({ id, method, params }) {
  if (method === 'server/discover') await write({ id, error: { code: -32601, message: 'no' } });
  else if (method === 'initialize') {
    dieAt('before connected');
    await write({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'mortal', version: '1' },
      },
    });
  } else if (method === 'tools/list') {
    dieAt('before list');
    const inputSchema = { type: 'object', properties: {} };
    await write({ id, result: { tools: [{ name: 'effect', description: 'Pays.', inputSchema }] } });
    dieAt('after list');
  } else if (method === 'tools/call') {
    dieAt('before effect');
    appendFileSync(file, 'effect\n');
    dieAt('after effect');
    const answer = { id, result: { content: [{ type: 'text', text: 'done' }] } };
    if (isNext('in answer')) {
      await half(answer);
      dieAt('in answer');
    }
    await write(answer);
    dieAt('after answer');
  }
}
