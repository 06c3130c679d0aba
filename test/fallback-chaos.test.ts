import { AgentBuilder, AgentState, ErrorPolicy, explainOutcome, type ModelInput } from 'onward';
import { mockTool } from 'onward/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reader } from './setup/fallback.ts';
import {
  chaosModels,
  chaosServer,
  chaotic,
  finalText,
  hasty,
  manyRuns,
  random,
  type Trail,
} from './setup/provider-chaos.ts';

/** Many runs: `FALLBACK_RUNS=5000 FALLBACK_SECONDS=600 npx vitest run --project system test/fallback-chaos.test.ts`. */
const RUNS = Number(process.env['FALLBACK_RUNS'] ?? 600);
const BUDGET_MS = Number(process.env['FALLBACK_SECONDS'] ?? 40) * 1_000;
const seed = Number(process.env['ONWARD_SEED'] ?? 1);
const rates = { fault: 0.3, cut: 0.35, damage: 0.08, refusal: 0.12 };

const mock = chaosServer();
beforeAll(() => mock.start());
afterAll(() => mock.stop());

/** Failures whose cause is the request: another model is not asked. */
const never = new Set(['refusal', 'content_filter', 'invalid_request', 'context_length']);

/** How often a run changed its model, by the moment. */
const moments = { 'at the first step': 0, 'after tools': 0, 'in the middle of a stream': 0 };

async function oneRun(index: number): Promise<string> {
  const draw = random(seed + index);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)]!;
  const retries = pick([0, 0, 1, 2]);
  const trail: Trail = { isTampered: false, requests: 0 };
  const made = (): ModelInput => pick(chaosModels(mock))(chaotic(draw, trail, rates));
  const fallback = Array.from({ length: pick([1, 1, 2]) }, made);
  const lookup = mockTool('lookup', { degrees: 18 });
  const agent = AgentBuilder.base()
    .withModel(made())
    .withFallback(...fallback)
    .withTools(lookup)
    .withErrorPolicy(retries === 0 ? ErrorPolicy.stopOnAnyError() : ErrorPolicy.retryAll(retries))
    .withClock(hasty)
    .build();
  const models = 1 + fallback.length;
  const isStream = draw() < 0.8;
  const { wiretap, events, text } = reader();
  // half of them take each step in another process
  const isByHand = draw() < 0.5;
  let state = AgentState.empty({ now: hasty.now() }).withUserMessage('How warm is it?');
  const options = isStream ? { wiretap } : {};
  if (!isByHand) state = await agent.run(state, options);
  else
    while (agent.hasNextStep(state))
      state = await agent.nextStep(AgentState.from(JSON.parse(JSON.stringify(state))), options);

  // one request for each step, so that no call was made twice
  expect(trail.requests).toBe(state.steps.length);
  const answered = state.steps.toJSON().filter(({ type }) => type === 'tool_calls');
  const ran = answered.flatMap(({ results }) => results.filter(({ kind }) => kind === 'ok'));
  expect(lookup.calls).toHaveLength(ran.length);
  const ids = answered.flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
  expect(state.messages.pairingProblem()).toBeNull();
  expect(AgentState.from(JSON.parse(JSON.stringify(state))).status).toBe(state.status);

  let failed: string[] = [];
  let next: string | undefined;
  let met = 0;
  let hasRun = false;
  const discarded = new Set(
    events.flatMap((event) => (event.type === 'StreamDiscarded' ? [event.stepNumber] : [])),
  );
  for (const { number, type, model = '', fallback: to, errors, outcome } of state.steps) {
    // the run continues with the model that the step before named, and stays with it
    if (next !== undefined) expect(model).toBe(next);
    next = to ?? model;
    if (type !== 'error') {
      failed = [];
      hasRun ||= type === 'tool_calls';
      expect(to).toBeUndefined();
      continue;
    }
    failed.push(model);
    expect(failed.length).toBeLessThanOrEqual(models * (1 + retries));
    expect(failed.filter((one) => one === model).length).toBeLessThanOrEqual(1 + retries);
    expect(errors[0]?.code).not.toBe('driver_failed');
    if (to === undefined) continue;
    met += 1;
    moments[hasRun ? 'after tools' : 'at the first step'] += 1;
    if (discarded.has(number)) moments['in the middle of a stream'] += 1;
    expect(failed).not.toContain(to);
    expect(never.has(errors[0]?.code ?? '')).toBe(false);
    const evaluation = outcome?.evaluationFor('ErrorPolicyCriterion');
    expect(evaluation).toMatchObject({
      decision: 'allow',
      facts: { kind: 'error', handling: 'fallback', model, fallback: to },
    });
    expect(evaluation?.reason).toContain(model);
    expect(evaluation?.reason).toContain(`continued with ${to}`);
    expect(outcome?.explanation().headline).toContain(`Continued with ${to}`);
  }
  if (isStream) {
    const changes = events.filter(({ type }) => type === 'ModelFallback');
    expect(changes).toHaveLength(met);
    // what a reader saw last is the answer; text of failed calls was taken back
    if (state.status === 'completed') expect(text().endsWith(String(state.output))).toBe(true);
    const taken = events.filter(({ type }) => type === 'StreamDiscarded');
    expect(taken).toHaveLength(discarded.size);
  }
  if (state.status === 'completed' && !trail.isTampered) expect(state.output).toBe(finalText);
  if (state.status === 'failed' && failed.length > 1 && new Set(failed).size === models) {
    const explanation = explainOutcome(state.lastContinuationOutcome!);
    for (const model of new Set(failed))
      expect(`${explanation.headline} ${explanation.detail}`).toContain(model);
  }
  return `${state.status}, ${met === 0 ? 'no fallback' : 'fallback'}`;
}

it('runs in which providers fail continue with the next model: no call is made twice, and each change is explained', async () => {
  console.info(`ONWARD_SEED=${seed}`);
  const { tally, unhandled } = await manyRuns(RUNS, BUDGET_MS, oneRun);
  expect(unhandled).toEqual([]);
  const runs = [...tally.values()].reduce((sum, count) => sum + count, 0);
  const met = (tally.get('completed, fallback') ?? 0) + (tally.get('failed, fallback') ?? 0);
  expect(met).toBeGreaterThan(runs * 0.6);
  expect(tally.get('completed, fallback') ?? 0).toBeGreaterThan(runs * 0.2);
  console.info(JSON.stringify(moments));
  for (const count of Object.values(moments)) expect(count).toBeGreaterThan(runs * 0.05);
}, 120_000);
