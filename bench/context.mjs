/**
 * A conversation of 300 turns with tools: the largest request, the share of each request that the one before it had in
 * front, and the tokens sent, with compaction, without it, and with a plain sliding window. And whether facts of turn 3
 * can be answered in turn 280. Model and summaries are scripted: this shows that the parts work together, and says
 * nothing about the quality of summaries.
 *
 *   npm run bench:context -- [--turns 300] [--at 20000]
 *
 * One JSON line per strategy. Never fails: figures are not tests.
 */
import { parseArgs } from 'node:util';
import { AgentBuilder, AgentState, defineTool } from 'onward';

const { values } = parseArgs({
  options: { turns: { type: 'string', default: '300' }, at: { type: 'string', default: '20000' } },
});
const turns = Number(values.turns);
const atTokens = Number(values.at);
/** Turn of the facts, and of the question about them. */
const PLANTED = 3;
const ASKED = 280;
const facts = ['code word: heron', 'budget: 4,120 EUR', 'contact: Zoë Àlvarez'];

/** Tokens, roughly. */
const tokensOf = (text) => Math.ceil(text.length / 4);
const isSummary = ({ system }) => system?.startsWith('You keep the record') === true;
const factsIn = (text) => facts.filter((fact) => text.includes(fact));

/** Writes down the facts that it is sent, as a perfect summary would. */
const summaryOf = (text) =>
  `Goal: manage the orders.\nFacts: ${factsIn(text).join('; ') || 'none'}.`;

/** Looks an order up, then answers; to the question it answers the facts that its request has. */
function answerTo(messages) {
  const last = messages.at(-1);
  if (last.text.startsWith('What were the facts'))
    return { content: factsIn(messages.map(({ text }) => text).join('\n')).join('; ') };
  return last.isTool()
    ? { content: `The order is on its way. ${'It left the warehouse on time. '.repeat(6)}` }
    : {
        toolCalls: [{ name: 'find_order', args: { id: messages.length } }],
        finishReason: 'tool_calls',
      };
}

function measuredModel(cut) {
  const seen = { requests: 0, sent: 0, largest: 0, shared: 0, summaries: 0, summaryTokens: 0 };
  let before = [];
  const infer = async (request) => {
    const all = [...request.messages];
    const messages = cut ? cut(all) : all;
    const parts = [
      request.system ?? '',
      JSON.stringify(request.tools),
      ...messages.map((m) => JSON.stringify(m)),
    ];
    const sizes = parts.map(tokensOf);
    const input = sizes.reduce((sum, size) => sum + size, 0);
    let content;
    if (isSummary(request)) {
      seen.summaries += 1;
      seen.summaryTokens += input;
      content = { content: summaryOf(messages.at(-1).text) };
    } else {
      const end = parts.findIndex((part, i) => part !== before[i]);
      const same = sizes.slice(0, end === -1 ? sizes.length : end);
      seen.requests += 1;
      seen.sent += input;
      seen.largest = Math.max(seen.largest, input);
      seen.shared += same.reduce((sum, size) => sum + size, 0);
      before = parts;
      content = answerTo(messages);
    }
    return {
      content: '',
      toolCalls: [],
      finishReason: 'stop',
      usage: { input, output: 60 },
      ...content,
    };
  };
  return { model: { name: 'scripted', infer }, seen };
}

/** The newest whole turns that fit, as an application without compaction would cut. */
function slidingWindow(messages) {
  let size = 0;
  let start = messages.length;
  for (let i = messages.length - 1; i >= 0; i--) {
    size += tokensOf(JSON.stringify(messages[i]));
    if (size > atTokens) break;
    if (messages[i].isUser()) start = i;
  }
  return messages.slice(start);
}

async function play(name, { cut, compaction }) {
  const { model, seen } = measuredModel(cut);
  const findOrder = defineTool({
    name: 'find_order',
    description: 'Finds an order.',
    parameters: { type: 'object', properties: { id: { type: 'number' } } },
    execute: ({ id }) => ({
      id,
      state: 'shipped',
      lines: Array.from({ length: 30 }, (_, i) => `line ${i} of ${id}`),
    }),
  });
  const builder = AgentBuilder.base()
    .withModel(model)
    .withSystemPrompt('You manage orders. '.repeat(20))
    .withTools(findOrder);
  const agent = (compaction ? builder.withCompaction(compaction) : builder).build();
  let state = AgentState.empty();
  let answered = 0;
  const start = performance.now();
  for (let turn = 1; turn <= turns; turn++) {
    const planted = turn === PLANTED ? ` Keep in mind: ${facts.join('; ')}.` : '';
    const question =
      turn === ASKED ? 'What were the facts to keep in mind?' : `Where is order ${turn}?${planted}`;
    state = await agent.run(state.withUserMessage(question));
    if (turn === ASKED) answered = factsIn(state.outputText).length;
  }
  const figures = {
    strategy: name,
    turns,
    requests: seen.requests,
    largest_request: seen.largest,
    tokens_sent: seen.sent + seen.summaryTokens,
    of_it_for_summaries: seen.summaryTokens,
    summaries: seen.summaries,
    compactions: state.compactions.length,
    reusable_prefix: Math.round((seen.shared / seen.sent) * 1000) / 1000,
    facts_answered: `${answered} of ${facts.length}`,
    messages_kept: state.messages.length,
    seconds: Math.round(performance.now() - start) / 1000,
  };
  console.log(JSON.stringify(figures));
}

await play('no compaction', {});
await play('sliding window', { cut: slidingWindow });
await play('compaction', { compaction: { atTokens } });
await play('compaction, without notes in place of results', {
  compaction: { atTokens, clearToolResults: false },
});
