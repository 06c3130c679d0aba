import { AgentBuilder } from 'onward';
import { AgentEventEnvelopeAdapter, BroadcastConfig } from 'onward/broadcasting';
import { interleaved, median, round } from './measure.mjs';
import { addingAgent, PROMPT } from './scenario.mjs';

const STEPS = 200;
const DELTAS = 2_000;
const ROUNDS = 41;
const usage = { input: 10, output: 5, total: 15 };
const nowhere = { name: 'nowhere', broadcast() {}, broadcastBatch() {} };

const streamingAgent = AgentBuilder.base()
  .withDriver({
    name: 'scripted',
    infer: () => Promise.resolve(whole),
    async *stream() {
      for (let i = 0; i < DELTAS; i++) yield { type: 'content', text: `word${i % 10} ` };
      yield { type: 'done', response: whole };
    },
  })
  .build();
const whole = {
  content: Array.from({ length: DELTAS }, (_d, i) => `word${i % 10} `).join(''),
  toolCalls: [],
  finishReason: 'stop',
  usage,
};

const runs = { steps: addingAgent(STEPS), stream: streamingAgent };
let runNumber = 0;

const options = (broadcaster, config) => {
  const executionId = `run-${++runNumber}`;
  const ids = { sessionId: 'bench', executionId };
  const adapter = new AgentEventEnvelopeAdapter({ broadcaster, config, ...ids });
  return { executionId, wiretap: adapter.wiretap() };
};

/** The same run with the adapter and with a listener that does nothing, turn by turn; then against a run without listeners. */
export async function* adapterCost() {
  const config = BroadcastConfig.standard();
  for (const [name, agent] of Object.entries(runs)) {
    let events = 0;
    await agent.run(PROMPT, { wiretap: () => (events += 1) });
    const counts = { units: events, warmUnits: 40_000, sampleUnits: events, rounds: ROUNDS };
    const ours = () => agent.run(PROMPT, options(nowhere, config));
    for (const [beside, bare] of [
      ['listener', () => agent.run(PROMPT, { wiretap: () => {} })],
      ['none', () => agent.run(PROMPT)],
    ]) {
      const { onward_us, bare_us, quiet_rounds } = await interleaved(ours, bare, counts);
      yield {
        case: 'adapter',
        run: name,
        beside,
        events,
        added_ns: Math.round((onward_us - bare_us) * 1000),
        with_adapter_ns: Math.round(onward_us * 1000),
        without_ns: Math.round(bare_us * 1000),
        quiet_rounds,
      };
    }
  }
}

async function recorded() {
  const events = [];
  for (const agent of Object.values(runs))
    await agent.run(PROMPT, { executionId: 'recorded', wiretap: (event) => events.push(event) });
  return events;
}

/** Recorded events through the adapter into a broadcaster that drops them, and their envelopes through the UI. */
export async function* throughput() {
  const events = await recorded();
  const envelopes = [];
  const keep = {
    name: 'keep',
    broadcast: (_channel, envelope) => void envelopes.push(envelope),
    broadcastBatch: (all) => void envelopes.push(...all.map(({ envelope }) => envelope)),
  };
  const config = BroadcastConfig.standard({ queueSize: 1_000_000 });
  const ids = { sessionId: 'bench', executionId: 'recorded' };
  const made = new AgentEventEnvelopeAdapter({ broadcaster: keep, config, ...ids });
  const listen = made.wiretap();
  for (const event of events) listen(event);
  await made.flush();
  const perSecond = async (work) => {
    const rates = [];
    for (let i = 0; i < 12 + ROUNDS; i++) {
      const began = performance.now();
      await work();
      if (i >= 12) rates.push((envelopes.length * 1000) / (performance.now() - began));
    }
    return Math.round(median(rates));
  };
  const rate = await perSecond(async () => {
    const adapter = new AgentEventEnvelopeAdapter({ broadcaster: nowhere, config, ...ids });
    const wiretap = adapter.wiretap();
    for (const event of events) wiretap(event);
    await adapter.flush();
  });
  const json = await perSecond(() => {
    let bytes = 0;
    for (const envelope of envelopes) bytes += JSON.stringify(envelope).length;
    return bytes;
  });
  yield {
    case: 'throughput',
    through: 'adapter',
    envelopes: envelopes.length,
    per_second: rate,
    json_stringify_per_second: json,
  };
  const { newUiState, reduceEnvelope } = await import('onward/ui').catch(() => ({}));
  if (!newUiState || !reduceEnvelope) return;
  let state;
  const reduced = await perSecond(() => {
    state = newUiState();
    for (const envelope of envelopes) state = reduceEnvelope(state, envelope);
  });
  const parsed = envelopes.map((envelope) => JSON.stringify(envelope));
  const json_parse = await perSecond(() => {
    let count = 0;
    for (const text of parsed) count += JSON.parse(text).type.length;
    return count;
  });
  yield {
    case: 'throughput',
    through: 'ui reducer',
    envelopes: envelopes.length,
    per_second: reduced,
    json_parse_per_second: json_parse,
    messages: state.messages.length,
    us_per_envelope: round(1e6 / reduced),
  };
}
