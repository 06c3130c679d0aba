import { AgentBuilder, AgentState, ErrorPolicy, ErrorType } from 'onward';
import { mockTool } from 'onward/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  chaosModels,
  chaosServer,
  chaotic,
  finalText,
  hasty,
  manyRuns,
  random,
  wanted,
  type Trail,
} from './setup/provider-chaos.ts';

const RUNS = Number(process.env['CHAOS_RUNS'] ?? 3_000);
/** A slow machine makes fewer runs in this time. */
const BUDGET_MS = 40_000;
const RETRIES = 2;
const seed = Number(process.env['ONWARD_SEED'] ?? 1);
const rates = { fault: 0.4, damage: 0.12 };

const mock = chaosServer();
beforeAll(() => mock.start());
afterAll(() => mock.stop());

async function oneRun(index: number): Promise<string> {
  const draw = random(seed + index);
  const models = chaosModels(mock);
  const model = models[Math.floor(draw() * models.length)]!;
  const trail: Trail = { isTampered: false, requests: 0 };
  const lookup = mockTool('lookup', { degrees: 18 });
  const agent = AgentBuilder.base()
    .withModel(model(chaotic(draw, trail, rates)))
    .withTools(lookup)
    .withErrorPolicy(ErrorPolicy.retryAll(RETRIES))
    .withClock(hasty)
    .build();
  if (draw() < 0.6) agent.on('StreamChunk', () => {});
  const controller = new AbortController();
  if (draw() < 0.1) setTimeout(() => controller.abort(), draw() * 15);
  const state = await agent.run('How warm is it?', { signal: controller.signal });

  expect(state.messages.pairingProblem()).toBeNull();
  expect(AgentState.from(JSON.parse(JSON.stringify(state))).status).toBe(state.status);
  // an answer that interrupts the failures begins the count anew
  let failures = 0;
  for (const { type } of state.steps) {
    failures = type === 'error' ? failures + 1 : 0;
    expect(failures).toBeLessThanOrEqual(1 + RETRIES);
  }
  expect(state.steps.at(-1)).not.toHaveProperty('model');
  for (const { errors } of state.steps)
    for (const error of errors) {
      expect(Object.values(ErrorType)).toContain(error.type);
      expect(error.code).not.toBe('driver_failed');
    }
  for (const call of trail.isTampered ? [] : lookup.calls) expect(wanted).toContainEqual(call);
  if (state.status === 'completed' && !trail.isTampered) expect(state.output).toBe(finalText);
  return `${state.status} (${state.stopReason})`;
}

it('every run with errors, truncated answers, damaged bytes and lost connections ends with a typed outcome', async () => {
  console.info(`ONWARD_SEED=${seed}`);
  const { tally, unhandled } = await manyRuns(RUNS, BUDGET_MS, oneRun);
  expect(unhandled).toEqual([]);
  expect([...tally.keys()].toSorted()).toEqual([
    'completed (completed)',
    'failed (retry_limit)',
    'stopped (user_requested)',
  ]);
}, 120_000);
