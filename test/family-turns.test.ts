import { AgentBuilder, ErrorPolicy, type AgentState, type Hook } from 'onward';
import { fakeClock, mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { approve } from './setup/approvals.ts';
import { asTool, listening, member, Meter, meteredModel, type Spoken } from './setup/families.ts';
import { takesAnotherTurn } from './setup/states.ts';

const look = mockTool('look', 'seen');
const works = (tokens: number, delayMs: number) => (): Spoken => ({
  call: 'look',
  text: 'So far so good.',
  tokens,
  delayMs,
});
const asks =
  (times: number, tokens: number) =>
  (answers: number): Spoken =>
    answers === 0 ? { call: 'help', times, tokens } : { text: 'done', tokens };

/** Two nested agents with budget for one call at a time. Each call takes a second. */
function oneAtATime(change: (b: AgentBuilder) => AgentBuilder = (b) => b, hooks: Hook[] = []) {
  const clock = fakeClock();
  const meter = new Meter();
  const child = AgentBuilder.base()
    .withName('helper')
    .withDriver(meteredModel('helper', meter, works(1000, 1000), clock))
    .withTools(look)
    .withHooks(...hooks)
    .withClock(clock)
    .build();
  const root = change(
    member('root', meter, asks(2, 1000), asTool(child, 'help'))
      .withMaxTokens(2000)
      .withClock(clock),
  ).build();
  return { clock, meter, root };
}

/** One nested agent answered, and the other stopped without a step. */
function expectOneAnswer(state: AgentState, meter: Meter): void {
  expect(meter.mostInFlight).toBe(1);
  expect(state.usage.total).toBe(2000);
  expect(state.steps.at(0)?.results.map(({ value }) => value)).toEqual([
    { stopped: 'token_limit', text: 'So far so good.' },
    { stopped: 'token_limit', text: '' },
  ]);
}

describe('nested agents that wait for budget', () => {
  it('make one call at a time if the budget allows one, and the other agent stops without a step', async () => {
    const { clock, meter, root } = oneAtATime();
    const received = listening();
    const running = root.run('go', { wiretap: received.wiretap });
    await clock.advance(10_000);
    const state = await running;
    expectOneAnswer(state, meter);
    expect(state.execution.family).toEqual([
      { agent: 'helper', steps: 1, tokens: 1000, cost: null },
    ]);
    expect(clock.pendingTimers).toBe(0);
    await takesAnotherTurn(state);
  });

  it('wait at the model call if a hook wraps the step', async () => {
    const around: Hook = { name: 'around', aroundStep: (input, next) => next(input) };
    const { clock, meter, root } = oneAtATime(undefined, [around]);
    const running = root.run('go');
    await clock.advance(10_000);
    const state = await running;
    expectOneAnswer(state, meter);
    await takesAnotherTurn(state);
  });

  it('do not deadlock when hooks serialize the steps of all agents', async () => {
    const meter = new Meter();
    let turn: Promise<unknown> = Promise.resolve();
    const oneByOne: Hook = {
      name: 'one-by-one',
      aroundStep: (input, next) => {
        const before = turn;
        const mine = (async () => {
          await before;
          return next(input);
        })();
        turn = mine.catch(() => {});
        return mine;
      },
    };
    const inner = member('inner', meter, (n) => ({
      ...works(900, 1)(),
      ...(n > 0 && last),
    })).build();
    const last = { call: undefined as never, text: 'found' };
    const child = member(
      'helper',
      meter,
      (n) =>
        n === 0 ? { call: 'inner', tokens: 900, delayMs: 1 } : { text: 'helped', tokens: 900 },
      asTool(inner, 'inner'),
    )
      .withHooks(oneByOne)
      .build();
    const root = member('root', meter, asks(4, 900), asTool(child, 'help'))
      .withMaxTokens(4000)
      .build();
    const state = await root.run('go');
    expect(state.stopReason).toBe('token_limit');
    expect(meter.inFlight.size).toBe(0);
    expect(state.usage.total).toBe(meter.spent);
  });

  it.each<[string, (b: AgentBuilder) => AgentBuilder, string]>([
    ['an abort', (b) => b, 'user_requested'],
    ['the deadline', (b) => b.withTimeout({ seconds: 0.5 }), 'time_limit'],
  ])('%s ends the wait', async (_case, change, stopReason) => {
    const { clock, meter, root } = oneAtATime(change);
    const controller = new AbortController();
    const running = root.run('go', { signal: controller.signal });
    await clock.advance(100);
    expect(meter.inFlight.size).toBe(1);
    if (stopReason === 'user_requested') controller.abort('enough');
    await clock.advance(500);
    const state = await running;
    expect(state.stopReason).toBe(stopReason);
    expect(state.steps.at(0)?.results.map(({ kind }) => kind)).toEqual(
      stopReason === 'time_limit' ? ['timeout', 'timeout'] : ['aborted', 'aborted'],
    );
    expect(state.usage.total).toBe(1000);
    await takesAnotherTurn(state);
  });

  it('failed calls without usage consume no budget and block no other agent', async () => {
    const meter = new Meter();
    const speak = (): Spoken => ({ tokens: 700, delayMs: 1, fails: 'without usage' });
    const failing = member('failing', meter, speak)
      .withErrorPolicy(ErrorPolicy.retryAll(2).withBackoff({ initialMs: 0 }))
      .build();
    const root = member('root', meter, asks(4, 10), asTool(failing, 'help'))
      .withMaxTokens(1000)
      .build();
    const state = await root.run('go');
    expect(meter.failed).toBe(4 * 3);
    expect(state).toMatchObject({ status: 'completed', output: 'done' });
    expect(state.steps.at(0)?.results.every(({ kind }) => kind === 'error')).toBe(true);
  });

  it('a hook that rejects before the model call blocks no other agent', async () => {
    const { clock, root } = oneAtATime(undefined, [
      { name: 'broken', aroundModelCall: () => Promise.reject(new Error('hook')) },
    ]);
    const running = root.run('go');
    await clock.advance(5000);
    const state = await running;
    expect(state.steps.at(0)?.results.map(({ kind }) => kind)).toEqual(['error', 'error']);
    expect(state.output).toBe('done');
  });
});

describe('call size after a resume', () => {
  /** Each nested agent needs an approval after its first call. After that, `speak` answers. */
  async function resumed(children: number, own: number, speak: () => Spoken) {
    const meter = new Meter();
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const child = member(
      'helper',
      meter,
      (answers) => (answers === 0 ? { call: 'pay', tokens: 1000 } : speak()),
      pay,
      look,
    ).build();
    const root = member('root', meter, asks(children, own), asTool(child, 'help'))
      .withMaxTokens(own + (children + 1) * 1000)
      .build();
    const paused = await root.run('go');
    expect(paused.pendingApprovals).toHaveLength(children);
    meter.mostInFlight = 0;
    const answers = paused.pendingApprovals.map(({ callId }) => [callId, approve] as const);
    const state = await root.resume(paused, { approvals: Object.fromEntries(answers) });
    expect(state.usage.total).toBe(meter.spent);
    return { meter, left: own + (children + 1) * 1000 - meter.spent };
  }

  it('one call starts, and the others wait until its size is known', async () => {
    const { meter, left } = await resumed(2, 10, works(1000, 2));
    expect([meter.mostInFlight, left]).toEqual([1, 0]);
  });

  it('the size stays unknown after a call that failed without usage', async () => {
    let calls = 0;
    const { meter, left } = await resumed(3, 10, () => ({
      ...works(1000, 2)(),
      ...(calls++ === 0 && { fails: 'without usage' as const }),
    }));
    expect([meter.failed, meter.mostInFlight, left]).toEqual([1, 1, 0]);
  });

  it('the first finished call sets the size, not the paused step', async () => {
    const { meter } = await resumed(4, 5000, works(100, 2));
    expect(meter.mostInFlight).toBe(4);
  });
});

describe('soft landing of the root', () => {
  it('nested agents leave its token reserve, and the root answers', async () => {
    const meter = new Meter();
    const received = listening();
    const child = member('helper', meter, works(400, 0), look).build();
    const root = member('root', meter, asks(1, 100), asTool(child, 'help'))
      .withMaxTokens(2000)
      .withSoftLanding({ tokens: 600 })
      .build();
    const state = await root.run('go', { wiretap: received.wiretap });
    // 100 + 4 × 400 reach 2000 - 600
    expect(state.usage.total).toBe(100 + 4 * 400 + 100);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'token_limit', output: 'done' });
    expect(state.steps.at(-1)?.softLanding).toBe('TokenUsageLimit');
    expect(received.ends[0]?.decisive).toMatchObject({
      criterion: 'TokenUsageLimit',
      reason:
        'the limit of "root" for all its agents: 1700 of 2000 tokens used, and the rest is kept for a last answer',
      context: { used: 1700, limit: 2000, scope: 'family' },
      stopReason: 'token_limit',
    });
  });

  it('the last family step is for its answer', async () => {
    const meter = new Meter();
    const child = member('helper', meter, works(10, 0), look).build();
    const root = member('root', meter, asks(2, 10), asTool(child, 'help'))
      .withMaxFamilySteps(6)
      .withSoftLanding()
      .build();
    const state = await root.run('go');
    expect(meter.calls).toBe(6);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'steps_limit', output: 'done' });
    expect(state.steps.at(-1)?.softLanding).toBe('FamilyStepsLimit');
  });

  it('no nested step starts within its reserved seconds', async () => {
    const clock = fakeClock();
    const meter = new Meter();
    const child = AgentBuilder.base()
      .withName('helper')
      .withDriver(meteredModel('helper', meter, works(10, 1000), clock))
      .withTools(look)
      .withClock(clock)
      .build();
    const root = member('root', meter, asks(1, 10), asTool(child, 'help'))
      .withCumulativeTimeout({ seconds: 10 })
      .withSoftLanding({ seconds: 4 })
      .withClock(clock)
      .build();
    const running = root.run('go');
    await clock.advance(20_000);
    const state = await running;
    expect(state.execution.cumulativeSeconds).toBe(6);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit', output: 'done' });
  });

  it('nested agents work when the root has only one own step', async () => {
    const meter = new Meter();
    const child = member('helper', meter, () => ({ text: 'helped', tokens: 10 })).build();
    const root = member('root', meter, asks(1, 10), asTool(child, 'help'))
      .withMaxSteps(1)
      .withSoftLanding()
      .build();
    const state = await root.run('go');
    expect(state.steps.at(0)?.results[0]?.value).toBe('helped');
  });
});
