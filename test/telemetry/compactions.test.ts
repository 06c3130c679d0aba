import { AgentState } from 'onward';
import { telemetry } from 'onward/telemetry';
import { expect, it } from 'vitest';
import { longAgent, longModel } from '../setup/long-conversations.ts';
import { named, observedHere } from '../setup/otlp.ts';

it('a compaction is an event of its run, with the sizes before and after', async () => {
  const otlp = await observedHere();
  const agent = longAgent(longModel())
    .withCompaction({ atTokens: 3_000 })
    .withCapability(telemetry())
    .build();
  let state = AgentState.empty();
  for (let i = 0; i < 6; i++) state = await agent.run(state.withUserMessage(`Question ${i}`));
  expect(state.compactions.length).toBeGreaterThan(0);
  const events = named(await otlp.spans(), 'invoke_agent')
    .flatMap((span) => span.events)
    .filter(({ name }) => name === 'onward.compaction');
  expect(events.map(({ attributes }) => attributes)).toEqual(
    state.compactions.map(({ kind, reason, tokensBefore, tokensAfter }) => ({
      'onward.step': expect.any(Number),
      'onward.compaction.kind': kind,
      'onward.compaction.reason': reason,
      'onward.compaction.tokens_before': tokensBefore,
      'onward.compaction.tokens_after': tokensAfter,
    })),
  );
});
