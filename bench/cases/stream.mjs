import { AgentBuilder } from 'onward';
import { interleaved } from '../measure.mjs';
import { PROMPT } from '../scenario.mjs';

const DELTAS = 2_000;
const usage = { input: 10, output: 5, total: 15 };

async function* deltas() {
  for (let i = 0; i < DELTAS; i++) yield { type: 'content', text: `word${i % 10} ` };
}

/** One streamed answer, read through the event stream, against reading the model's stream directly. */
export async function* stream() {
  const driver = {
    name: 'scripted',
    infer: () => Promise.reject(new Error('not streamed')),
    async *stream() {
      let content = '';
      for await (const delta of deltas()) {
        content += delta.text;
        yield delta;
      }
      yield { type: 'done', response: { content, toolCalls: [], finishReason: 'stop', usage } };
    },
  };
  const agent = AgentBuilder.base().withDriver(driver).build();
  const counted = (seen) => {
    if (seen !== DELTAS) throw new Error(`saw ${seen} of ${DELTAS} deltas`);
  };
  const ours = async () => {
    let seen = 0;
    for await (const event of agent.stream(PROMPT)) if (event.type === 'StreamChunk') seen += 1;
    counted(seen);
  };
  const listening = async () => {
    let seen = 0;
    const state = await agent.run(PROMPT, {
      wiretap: ({ type }) => (seen += type === 'StreamChunk' ? 1 : 0),
    });
    counted(seen);
    return state;
  };
  const bare = async () => {
    let seen = 0;
    let text = '';
    for await (const chunk of driver.stream())
      if (chunk.type === 'content') {
        seen += 1;
        text += chunk.text;
      }
    counted(seen);
    return text;
  };
  const options = { units: DELTAS, warmUnits: 200_000, sampleUnits: DELTAS, rounds: 41 };
  yield {
    case: 'stream',
    via: 'stream()',
    deltas: DELTAS,
    ...(await interleaved(ours, bare, options)),
  };
  yield {
    case: 'stream',
    via: 'wiretap',
    deltas: DELTAS,
    ...(await interleaved(listening, bare, options)),
  };
}
