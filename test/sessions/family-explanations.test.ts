import { AgentBuilder, explainState, type SessionRuntime } from 'onward';
import { readTrace } from 'onward/server';
import { fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  ann,
  builderWith,
  followingDriver,
  places,
  runtimeOn,
  waiting,
} from '../setup/sessions.ts';

const { toolCall, toolCalls } = ScenarioStep;
const ask = { input: 'go' };
const used = (total: number, cost: number) => ({ usage: { input: total, output: 0, total }, cost });
const many = <T>(one: T, count = 40): T[] => Array.from({ length: count }, () => one);
type Limit = (builder: AgentBuilder) => AgentBuilder;

/** support asks a researcher and a writer at once, again and again; the researcher asks a reader, who looks around. */
function family(limit: Limit) {
  const look = mockTool('look', 'seen');
  const reader = AgentBuilder.base()
    .withName('reader')
    .withDriver(followingDriver(many(toolCall('look', {}, 'Read on.', used(100, 0.1)))))
    .withTools(look)
    .withMaxSteps(2);
  const researcher = AgentBuilder.base()
    .withName('researcher')
    .withDriver(followingDriver(many(toolCall('read', ask, 'More.', used(50, 0.05)))))
    .withTools(reader.build().asTool({ name: 'read', description: 'Reads.' }))
    .withMaxSteps(2);
  const writer = AgentBuilder.base()
    .withName('writer')
    .withDriver(followingDriver(many(toolCall('look', {}, 'A draft.', used(10, 0.01)))))
    .withTools(look)
    .withMaxSteps(1);
  const both = toolCalls(
    [
      { name: 'research', args: ask },
      { name: 'write', args: ask },
    ],
    '',
    used(100, 0.1),
  );
  return limit(
    builderWith(
      followingDriver(many(both)),
      researcher.build().asTool({ name: 'research', description: 'Researches.' }),
      writer.build().asTool({ name: 'write', description: 'Writes.' }),
    ).withMaxSteps(50),
  ).build();
}

/** What a user and a developer read, from the session of a process that has done nothing with it. */
async function texts(runtime: SessionRuntime): Promise<readonly [string, string, string]> {
  const session = await runtime.get('s', ann);
  const trace = await readTrace(runtime, 's', ann);
  const { headline } = explainState(session);
  expect(trace.stop?.explanation.headline).toBe(headline);
  const [action] = trace.stop?.explanation.actions ?? [];
  return [headline, session.outcome?.explain().split('\n')[0] ?? '', action?.text ?? ''];
}

describe.each(places)('the explanation of a family in a session (%s)', (_name, makePlace) => {
  it.each<[string, Limit, object, readonly string[], readonly string[]]>([
    [
      'tokens',
      (b) => b.withMaxTokens(500),
      { tokens: 500 },
      [
        'Stopped because it used 510 of 500 tokens, 300 of them by reader, 100 by researcher and 10 by writer.',
        'Stopped (token_limit) by TokenUsageLimit: 510 of 500 tokens used while work is still pending, 300 of them by reader, 100 by researcher and 10 by writer.',
      ],
      [
        'Stopped because it used 1,020 of 1,000 tokens (500 + 500 granted), 600 of them by reader, 200 by researcher and 20 by writer.',
      ],
    ],
    [
      'cost',
      (b) => b.withMaxCost(0.5),
      { cost: 0.5 },
      [
        'Stopped because it spent $0.51 of $0.50, $0.30 of it by reader, $0.10 by researcher and $0.01 by writer.',
        'Stopped (guard) by CostLimit: 0.51 of 0.5 cost units used while work is still pending, 0.3 of them by reader, 0.1 by researcher and 0.01 by writer.',
      ],
      [
        'Stopped because it spent $1.02 of $1.00 ($0.50 + $0.50 granted), $0.60 of it by reader, $0.20 by researcher and $0.02 by writer.',
      ],
    ],
    [
      'steps',
      (b) => b.withMaxFamilySteps(6),
      { steps: 6 },
      [
        'Stopped because it and its agents used 6 of 6 steps, 2 of them by researcher, 2 by reader and 1 by writer, before the model read 2 tool results.',
        'Stopped (steps_limit) by FamilyStepsLimit: 6 of 6 steps of all agents used while work is still pending, 2 of them by researcher, 2 by reader and 1 by writer.',
      ],
      [
        'Stopped because it and its agents used 12 of 12 steps (6 + 6 granted), 4 of them by researcher, 4 by reader and 2 by writer, before the model read 2 tool results.',
      ],
    ],
  ])(
    'names who used the %s, two calls deep and side by side, also after a grant in another process',
    async (_kind, limit, grant, first, second) => {
      const place = makePlace();
      const one = runtimeOn(place.open(), family(limit));
      await one.create({ ...ann, id: 's' });
      await one.send('s', 'go', waiting);
      const said = await texts(one);
      await one.close();
      const two = runtimeOn(place.open(), family(limit));
      expect(await texts(two)).toEqual(said);
      await two.resume('s', { ...waiting, grant });
      const again = await texts(two);
      expect([said.slice(0, first.length), again.slice(0, second.length)]).toEqual([first, second]);
      expect(said[2]).toMatch(/^To continue, add /);
    },
  );

  it('names no agent for time, which counts once for all of them', async () => {
    const clock = fakeClock();
    const slow = mockTool('look', async () => {
      await clock.advance(40_000);
      return 'seen';
    });
    const reader = AgentBuilder.base()
      .withName('reader')
      .withClock(clock)
      .withDriver(followingDriver(many(toolCall('look'))))
      .withTools(slow)
      .build();
    const agent = builderWith(
      followingDriver(many(toolCall('read', ask))),
      reader.asTool({ name: 'read', description: 'Reads.' }),
    )
      .withClock(clock)
      .withTimeout({ seconds: 60 })
      .build();
    const runtime = runtimeOn(makePlace().open(), agent);
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    const [headline] = await texts(runtime);
    expect(headline).toMatch(/^Stopped because it worked for 60 of 60 seconds/);
    expect(headline).not.toContain('reader');
  });
});
