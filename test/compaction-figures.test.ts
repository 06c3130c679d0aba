import fc from 'fast-check';
import { AgentState } from 'onward';
import { expect, it } from 'vitest';
import { conversationTokens } from '../src/inference/estimate-tokens.ts';
import { modelView } from '../src/agent/model-view.ts';
import { call, longAgent, longModel } from './setup/long-conversations.ts';

const size = fc.oneof(fc.integer({ min: 0, max: 700 }), fc.integer({ min: 0, max: 9_000 }));
const conversation = fc.record({
  turns: fc.array(fc.record({ asked: size, looks: fc.array(size, { maxLength: 4 }), said: size }), {
    minLength: 3,
    maxLength: 10,
  }),
  summary: fc.oneof(fc.constant(20), fc.integer({ min: 1, max: 12_000 })),
  atTokens: fc.integer({ min: 300, max: 5_000 }),
  keepTurns: fc.integer({ min: 1, max: 3 }),
  window: fc.option(fc.integer({ min: 1_000, max: 5_000 })),
  /** Reported tokens of an estimated one; null if nothing is reported. */
  share: fc.option(fc.constantFrom(0.05, 0.4, 1, 3, 9)),
});

it('records only compactions that make the view smaller, with its sizes before and after', async () => {
  let made = 0;
  await fc.assert(
    fc.asyncProperty(
      conversation,
      async ({ turns, summary, atTokens, keepTurns, window, share }) => {
        const steps = turns.flatMap(({ looks, said }) => [
          ...looks.map((characters) => call('look', { characters })),
          { content: 'y'.repeat(said + 1) },
        ]);
        const model = longModel({
          reports: share !== null,
          ...(window !== null && { window }),
          answer: () => steps.shift() ?? { content: 'Done.' },
          summary: () => ({ content: 'z'.repeat(summary) }),
        });
        const infer: typeof model.infer = async (request, options) => {
          const answer = await model.infer(request, options);
          const { usage } = answer;
          if (!usage || share === null) return answer;
          return { ...answer, usage: { ...usage, input: Math.ceil((usage.input ?? 0) * share) } };
        };
        const agent = longAgent({ ...model, infer })
          .withCompaction({ atTokens, keepTurns })
          .build();
        let state = AgentState.empty();
        for (const { asked } of turns)
          state = await agent.run(state.withUserMessage(`?${'a'.repeat(asked)}`));
        const { compactions } = state;
        made += compactions.length;
        for (const [i, { tokensBefore, tokensAfter }] of compactions.entries()) {
          expect(tokensAfter).toBeLessThan(tokensBefore);
          expect(tokensAfter).toBeGreaterThan(0);
          const sizes = [i, i + 1].map((count) =>
            conversationTokens(modelView(state.messages, compactions.slice(0, count))),
          );
          expect(sizes[1]).toBeLessThan(sizes[0]!);
        }
      },
    ),
    { numRuns: 100 },
  );
  expect(made).toBeGreaterThan(80);
});
