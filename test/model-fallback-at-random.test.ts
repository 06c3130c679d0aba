import fc from 'fast-check';
import { AgentState, ErrorPolicy } from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import { fails, reader, withModels, type Failure } from './setup/fallback.ts';
import { expectReplayed } from './setup/replayed.ts';

const failure = fc.constantFrom<Failure>(
  'overloaded',
  'longOverload',
  'server',
  'quota',
  'notFound',
  'refusal',
  'badRequest',
  'contextLength',
);
const world = fc.record({
  models: fc.integer({ min: 1, max: 4 }),
  retries: fc.nat(3),
  stops: fc.boolean(),
  /** What each call brings, whichever model gets it. */
  calls: fc.array(fc.oneof(failure, failure, fc.constant('tools' as const)), { maxLength: 30 }),
  resumes: fc.boolean(),
});

type World = typeof world extends fc.Arbitrary<infer W> ? W : never;

const stepOf = (move: World['calls'][number]): ScenarioStep =>
  move === 'tools' ? ScenarioStep.toolCall('look') : fails(move, { chunks: ['Half'] });

const revived = (state: AgentState): AgentState =>
  AgentState.from(JSON.parse(JSON.stringify(state)));

const never = new Set<string>(['refusal', 'invalid_request', 'context_length']);

it('a request gets at most models × (1 + maxRetries) calls, whatever fails', async () => {
  const property = async (given: World) => {
    const clock = fakeClock();
    // the models share one script, so that each call brings what the world says
    const shared = DeterministicDriver.fromSteps(...given.calls.map(stepOf), 'Done.');
    const models = Array.from({ length: given.models }, (_, i) => ({
      name: `m${i}`,
      infer: shared.infer,
      stream: shared.stream,
    }));
    const policy = given.stops
      ? ErrorPolicy.stopOnAnyError()
      : ErrorPolicy.retryAll(given.retries).withBackoff({ initialMs: 0 });
    const tries = 1 + (given.stops ? 0 : given.retries);
    const agent = withModels(models)
      .withErrorPolicy(policy)
      .withTools(mockTool('look', 'seen'))
      .withClock(clock)
      .withMaxSteps(50)
      .withTimeout({ seconds: 100_000 })
      .build();
    const { wiretap, events } = reader();
    const start = AgentState.empty({ now: clock.now() }).withUserMessage('go');
    const byHand = async (): Promise<AgentState> => {
      let state = start;
      while (agent.hasNextStep(state)) state = await agent.nextStep(revived(state), { wiretap });
      return state;
    };
    const ended = given.resumes ? byHand() : agent.run(start, { wiretap });
    let isOver = false;
    void ended.finally(() => (isOver = true)).catch(() => {});
    while (!isOver) await clock.advance(60_000);
    const state = await ended;

    let failed: string[] = [];
    for (const { type, model = 'm0', fallback, errors, outcome } of state.steps) {
      if (type !== 'error') {
        failed = [];
        continue;
      }
      failed.push(model);
      expect(failed.length).toBeLessThanOrEqual(given.models * tries);
      expect(failed.filter((one) => one === model).length).toBeLessThanOrEqual(tries);
      if (fallback !== undefined) expect(failed).not.toContain(fallback);
      if (never.has(errors[0]?.code ?? '')) {
        expect(fallback).toBeUndefined();
        expect(outcome?.shouldContinue).toBe(false);
      }
    }
    expect(shared.requests.length).toBe(state.steps.length);
    expect(state.messages.pairingProblem()).toBeNull();
    expectReplayed(state);
    const discarded = events.filter(({ type }) => type === 'StreamDiscarded').length;
    const broken = state.steps.toJSON().filter(({ type }) => type === 'error').length;
    expect(discarded).toBe(broken);
  };
  await fc.assert(fc.asyncProperty(world, property), { numRuns: 150 });
});
