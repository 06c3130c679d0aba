/**
 * Live updates: what they cost the loop, how fast they reach a client over server-sent events, and what a client costs.
 * One JSON line per figure and, last, whether each bar is met. Server and clients are processes of their own. Beside
 * each figure stands the same without Onward: a bare loop, or a bare HTTP server that writes the same bytes.
 * Never fails: figures are not tests.
 */
import { adapterCost, throughput } from './live-adapter.mjs';
import { idleClients, latency, manySessions } from './live-wire.mjs';

const cases = {
  adapter: adapterCost,
  throughput,
  latency,
  sessions: manySessions,
  idle: idleClients,
};
const chosen = process.argv.slice(2);
const lines = [];

for (const [name, measure] of Object.entries(cases)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  try {
    for await (const line of measure()) print(line);
  } catch (error) {
    print({ case: 'error', of: name, error: String(error) });
  }
}
console.log(JSON.stringify({ case: 'bars', ...bars() }));

function print(line) {
  lines.push(line);
  console.log(JSON.stringify(line));
}

function bars() {
  const results = {};
  const most = (bar, value, limit) => {
    results[bar] = { value, limit, pass: value <= limit };
  };
  const of = (name, more = () => true) => lines.filter((line) => line.case === name && more(line));
  // a run without listeners does not stream at all: beside it stands the price of streaming
  const isCost = ({ run, beside }) => run !== 'stream' || beside !== 'none';
  for (const { run, beside, added_ns: ns } of of('adapter', isCost))
    most(`adapter_ns_per_event_${run}_beside_${beside}`, ns, 2_000);
  for (const line of of('sessions', ({ server }) => server === 'onward')) {
    most('chunks_missing', line.chunks - line.received, 0);
    most('chunks_out_of_order', line.out_of_order, 0);
    most('frames_dropped', line.dropped, 0);
    most('readers_let_go', line.readers_let_go, 0);
  }
  return results;
}
