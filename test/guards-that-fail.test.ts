import { AgentBuilder, SessionRuntime, type Capability } from 'onward';
import { guardInput, guardOutput, guardTools } from 'onward/capabilities';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver, fakeClock, ScenarioStep } from 'onward/testing';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { seen, watched } from './setup/watched-agent.ts';

const { toolCall, final } = ScenarioStep;
const secret = 'the launch code is 0000';
const leaky = {
  name: 'no-codes',
  check: ({ text }: { text: string }) =>
    text.includes('0000') ? { block: 'it has a launch code' } : undefined,
};

describe('a guard that does not work', () => {
  const broken = {
    name: 'broken',
    check: () => {
      throw new Error('the classifier is offline');
    },
  };

  it.each([
    ['guardInput', guardInput(broken)],
    ['guardOutput', guardOutput(broken)],
    ['guardTools', guardTools(broken)],
  ])('%s blocks if it throws', async (_name, capability) => {
    const { run, ran } = watched([toolCall('pay', {}, 'Text.')], [capability]);
    const state = await run();
    expect([state.stopReason, ran]).toEqual(['guard', []]);
    expect(state.lastContinuationOutcome?.explain()).toContain('the classifier is offline');
    expect(state.lastContinuationOutcome?.explain()).toContain('fix the guard "broken"');
  });

  it('passes with onError: pass, which the step records', async () => {
    const { run } = watched([final('Done.')], [guardInput({ ...broken, onError: 'pass' })]);
    const state = await run();
    expect(state.output).toBe('Done.');
    expect(state.steps.at(0)?.guards).toMatchObject([{ decision: 'passed', cause: 'failed' }]);
  });

  it('blocks if it takes too long, and its signal aborts', async () => {
    const clock = fakeClock();
    let signal: AbortSignal | undefined;
    const hang = guardInput({
      name: 'slow',
      timeoutMs: 2_000,
      check: (input) => ((signal = input.signal), new Promise(() => {})),
    });
    const { run } = watched([final('Done.')], [hang], { clock });
    const running = run();
    await expect.poll(() => signal).toBeDefined();
    await clock.advance(2_000);
    const state = await running;
    expect(state.steps.at(0)?.guards).toMatchObject([{ decision: 'blocked', cause: 'timeout' }]);
    expect(signal?.aborted).toBe(true);
  });

  it('blocks if it returns anything else', async () => {
    const { run } = watched(
      [final('Done.')],
      [guardInput({ name: 'odd', check: () => true as never })],
    );
    expect((await run()).lastContinuationOutcome?.explain()).toContain(
      'it returned true, expected nothing or { block: reason }',
    );
  });

  it('does not delay a stop of the user', async () => {
    const abort = new AbortController();
    const { agent } = watched(
      [final('Done.')],
      [
        guardInput({
          name: 'slow',
          check: () => {
            abort.abort('enough');
            return new Promise(() => {});
          },
        }),
      ],
    );
    const state = await agent.run('go', { signal: abort.signal });
    expect(state.stopReason).toBe('user_requested');
  });
});

describe('guards', () => {
  it('count what their own model used, under their names', async () => {
    const judge = AgentBuilder.base()
      .withName('judge')
      .withModel(DeterministicDriver.fromSteps(final('ok', { usage: { input: 900, output: 100 } })))
      .build();
    const check = guardInput({
      name: 'injection',
      check: async ({ text, addUsage, signal }) => {
        const state = await judge.run(text, { signal });
        addUsage(state.execution);
        return state.output === 'ok' ? undefined : { block: 'an injection' };
      },
    });
    const { run } = watched(
      [toolCall('pay', {}, '', { usage: { input: 50, output: 50 } })],
      [check],
      { maxTokens: 1_000 },
    );
    const state = await run();
    expect(state.usage.total).toBe(1_100);
    expect(state.steps.at(0)?.modelUsage?.total).toBe(100);
    expect(state.stopReason).toBe('token_limit');
    expect(state.lastContinuationOutcome?.explain()).toContain('1000 of them by injection');
  });

  it('of a nested agent stop it, and its parent reads why', async () => {
    const inner = AgentBuilder.base()
      .withName('clerk')
      .withModel(DeterministicDriver.fromResponses(secret))
      .withCapability(guardOutput(leaky))
      .build();
    const asked = watched([toolCall('ask', { input: 'x' }), final('It would not say.')], [], {
      tools: [inner.asTool({ name: 'ask', description: 'Asks.' })],
    });
    const state = await asked.run();
    expect(state.steps.at(0)?.results[0]?.value).toEqual({ stopped: 'guard', text: '' });
    expect(seen(asked, state)).not.toContain(secret);
    expect(state.status).toBe('completed');
  });

  it('hold in a session: nothing blocked is in its log, its messages or its stream', async () => {
    const agent = AgentBuilder.base()
      .withModel(DeterministicDriver.fromResponses(secret, 'Hello.'))
      .withCapability(guardOutput(leaky))
      .build();
    const runtime = new SessionRuntime({ store: memoryStore(), agents: [agent] });
    const session = await runtime.create({ owner: 'ann' });
    const events: unknown[] = [];
    const following = (async () => {
      for await (const { event } of runtime.follow(session.id, { owner: 'ann' })) {
        events.push(event);
        if ((event as { type: string }).type === 'AgentFinished') return;
      }
    })();
    const stopped = await session.send('go', { wait: true });
    expect(stopped.stopReason).toBe('guard');
    await following;
    const next = await session.send('hello', { wait: true });
    expect(next.output).toBe('Hello.');
    expect(JSON.stringify([events, await session.state()])).not.toContain(secret);
    await runtime.close();
  });

  it('need the dependencies that they read', () => {
    const typed = guardInput({
      name: 'typed',
      check: async (input: { text: string; deps: { limit: number } }) =>
        input.text.length > input.deps.limit ? { block: 'too long' } : undefined,
    });
    expectTypeOf(typed).toExtend<Capability<{ limit: number }>>();
    const agent = AgentBuilder.base()
      .withModel(DeterministicDriver.fromResponses('x'))
      .withCapability(typed)
      .build();
    expectTypeOf(agent.run).parameter(1).toExtend<{ deps: { limit: number } } | undefined>();
    expect(() => guardInput({ name: '', check: () => undefined })).toThrow(/name/);
    expect(() => guardTools({ name: 'x', check: 7 as never })).toThrow(/check/);
  });
});
