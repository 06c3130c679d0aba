/** The client side of `live-wire.mjs`: one connection per session, which checks that every chunk comes, in order. */
import { get } from 'node:http';

const [, , port, sessionCount, chunkCount, epoch] = process.argv;
const sessions = Number(sessionCount);
const chunks = Number(chunkCount);
const now = () => performance.timeOrigin + performance.now() - Number(epoch);
const delays = new Float64Array(sessions * chunks);
let received = 0;
let outOfOrder = 0;
let ended = 0;

process.on('message', async (what) => {
  if (what === 'finish') finish();
  if (what !== 'connect') return;
  for (let i = 0; i < sessions; i += 50)
    await Promise.all(
      Array.from({ length: Math.min(50, sessions - i) }, (_s, k) => connect(`s${i + k}`)),
    );
  report('connect', {});
});
report('ready', {});

function report(what, value) {
  process.send({ what, value });
}

function connect(session) {
  return new Promise((resolve) => {
    get({ port, host: '127.0.0.1', path: `/${session}`, agent: false }, (response) => {
      let text = '';
      let next = 0;
      response.setEncoding('utf8');
      response.on('data', (piece) => {
        resolve();
        text += piece;
        for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
          next = take(text.slice(0, end), next);
          text = text.slice(end + 2);
        }
      });
    });
  });
}

/** Returns the number of the chunk that comes next. */
function take(message, next) {
  const isChunk = message.includes('event: agent.stream.chunk');
  if (!isChunk && !message.includes('event: agent.status')) return next;
  const at = now();
  const { type, payload } = JSON.parse(message.slice(message.indexOf('data: ') + 6));
  if (type === 'agent.status') {
    if (payload.status !== 'processing' && ++ended === sessions) finish();
    return next;
  }
  if (payload.content === '') return next;
  if (payload.chunk_index !== next) outOfOrder += 1;
  if (received < delays.length) delays[received] = at - Number(payload.content.slice(3));
  received += 1;
  return payload.chunk_index + 1;
}

function finish() {
  const sorted = delays.subarray(0, received).toSorted();
  const at = (share) =>
    Number((sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(3));
  report('finished', {
    received,
    out_of_order: outOfOrder,
    p50_ms: at(0.5),
    p99_ms: at(0.99),
    max_ms: at(1),
  });
}
