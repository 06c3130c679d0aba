import { AgentState } from 'onward';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../src/inference/estimate-tokens.ts';
import { Messages } from '../src/messages/messages.ts';
import { call, longAgent, longModel, type SentRequest } from './setup/long-conversations.ts';

const essay = () => ({ content: 'word '.repeat(400) });

const estimateOf = ({ messages, ...request }: SentRequest): number =>
  estimateTokens({ ...request, messages: Messages.from(messages) });

async function talk(
  agent: { run(state: AgentState): Promise<AgentState> },
  turns: number,
): Promise<AgentState> {
  let state = AgentState.empty();
  for (let i = 0; i < turns; i++) state = await agent.run(state.withUserMessage(`Question ${i}`));
  return state;
}

describe('summaries', () => {
  it('are written by their own model, if there is one', async () => {
    const [model, small] = [longModel({ answer: essay }), longModel()];
    const agent = longAgent(model).withCompaction({ atTokens: 3_000, model: small }).build();
    const state = await talk(agent, 12);
    expect(state.compactions.some(({ kind }) => kind === 'summary')).toBe(true);
    expect(model.summaries).toEqual([]);
    expect(small.summaries.length).toBeGreaterThan(0);
  });

  it('that fail are tried again in a run only when it has grown by a tenth of the threshold', async () => {
    const asked: number[] = [];
    const model = longModel({
      answer: (_, n) => (n < 150 ? call('look', { characters: 50 }) : { content: 'Done.' }),
      summary: () => {
        asked.push(estimateOf(model.requests.at(-1)!));
        throw new Error('down');
      },
    });
    const agent = longAgent(model)
      .withCompaction({ atTokens: 3_000, clearToolResults: false })
      .build();
    await agent.run('Read it.');
    expect(asked.length).toBeGreaterThan(3);
    for (let i = 1; i < asked.length; i++) expect(asked[i]! - asked[i - 1]!).toBeGreaterThan(250);
  });

  it('are asked for with a request that stays below the threshold', async () => {
    const model = longModel({ answer: essay });
    const agent = longAgent(model).withCompaction({ atTokens: 3_000 }).build();
    // a conversation from before compaction was on
    const before = await talk(longAgent(longModel({ answer: essay })).build(), 30);
    await agent.run(before.withUserMessage('And now?'));
    expect(model.summaries).toHaveLength(1);
    expect(estimateOf(model.summaries[0]!)).toBeLessThan(3_000);
  });
});

it('a compaction that saves less than a tenth of the threshold is not worth a new prefix', async () => {
  const agentWith = (characters: number) =>
    longAgent(longModel(), characters)
      .withCompaction({ atTokens: 3_000, keepTurns: 1, summarize: false })
      .build();
  for (const [characters, count] of [
    [900, 0],
    [4_000, 1],
  ] as const) {
    const agent = agentWith(characters);
    const first = await agent.run('Question');
    const state = await agent.run(first.withUserMessage('word '.repeat(2_400)));
    expect(state.compactions).toHaveLength(count);
  }
});
