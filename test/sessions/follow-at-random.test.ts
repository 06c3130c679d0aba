import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  FeedScenario,
  type Answer,
  type ClientPlan,
  type Scenario,
} from '../setup/feed-scenarios.ts';
import type { FeedView } from '../setup/following.ts';
import { ann } from '../setup/sessions.ts';

/** Number of runs. Raise it to search longer. */
const RUNS = Number(process.env['FOLLOW_RUNS'] ?? 80);
const moment = fc.integer({ min: 1, max: 30 });
const anyAnswer: fc.Arbitrary<Answer> = fc.record({
  thoughts: fc.integer({ min: 0, max: 3 }),
  pieces: fc.integer({ min: 1, max: 5 }),
  cuts: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 2 }),
  calls: fc.constantFrom('look', 'look', 'pay'),
});
const anyClient: fc.Arbitrary<ClientPlan> = fc.record({
  isSmall: fc.boolean(),
  pace: fc.constantFrom(0, 0, 1, 3),
  isElsewhere: fc.constantFrom(false, false, true),
  moments: fc.uniqueArray(moment, { minLength: 1, maxLength: 6 }),
});
const anyScenario: fc.Arbitrary<Scenario> = fc.record({
  turns: fc.array(fc.array(anyAnswer, { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 3,
  }),
  prunes: fc.array(fc.constantFrom(false, false, true), { minLength: 3, maxLength: 3 }),
  clients: fc.array(anyClient, { minLength: 1, maxLength: 5 }),
  settlesEvery: fc.integer({ min: 1, max: 4 }),
  hasBus: fc.boolean(),
  pausesAt: fc.option(moment, { freq: 2 }),
  diesAt: fc.oneof(
    { weight: 7, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 8 }) },
  ),
});

/**
 * Checks that a reader has each event once and in order from the beginning of an execution, with a gap only where the
 * log was pruned.
 */
function isWhole({ log: seen }: FeedView, { log, prunedTo }: FeedScenario): void {
  const keyOf = (executionId: string, seq: number): string => `${executionId} ${seq}`;
  const places = new Map(log.map(({ seq, event }, i) => [keyOf(event.executionId, seq), i]));
  let next: number | null = null;
  for (const { seq, event } of seen) {
    const at = places.get(keyOf(event.executionId, event.type === 'gap' && seq === 0 ? 1 : seq!))!;
    if (event.type === 'gap') {
      const behind = seq === 0 ? at : at + 1;
      expect(behind).toBeLessThanOrEqual(prunedTo);
      expect(behind).toBeGreaterThanOrEqual(next ?? 0);
      next = behind;
      continue;
    }
    if (next === null) expect(seq).toBe(1);
    else expect(at).toBe(next);
    expect(event).toEqual(log[at]!.event);
    next = at + 1;
  }
  expect(next).toBe(log.length);
}

const seen = { gaps: 0, takeovers: 0, pauses: 0 };

async function check(scenario: Scenario): Promise<void> {
  const world = new FeedScenario(scenario);
  const { web, id, first } = world;
  await web.create({ ...ann, id });
  world.join({ isElsewhere: false }, first);
  for (const [i] of scenario.turns.entries()) {
    await world.turn(`turn ${i}`);
    if (!scenario.prunes[i]) continue;
    await web.prune({ olderThan: new Date(Date.now() + 60_000) });
    world.prunedTo = world.log.length;
  }
  for (const { plan, client } of world.clients) if (!client.isPresent) world.join(plan, client);
  for (const client of world.all) await world.reached(client);
  for (const client of world.all) {
    expect(client.failures).toEqual([]);
    isWhole(client.view, world);
    seen.gaps += client.view.log.filter(({ event }) => event.type === 'gap').length;
    client.leave();
  }
  if (world.log.some(({ event }) => event.type === 'AgentPaused')) seen.pauses += 1;
  expect(first.view.log.map(({ event }) => event)).toEqual(world.log.map(({ event }) => event));
  const types = world.log.map(({ event }) => event.type).join();
  if (world.hasTakenOver) {
    expect(types).toContain('StreamDiscarded,AgentStarted');
    seen.takeovers += 1;
  } else expect(first.view.unstreamed).toEqual([]);
  for (const { plan, client } of world.clients)
    if (plan.isElsewhere) expect(client.view.shown).toBeNull();
  await web.close({ graceMs: 0 });
  await world.worker.close({ graceMs: 0 });
}

it('readers that join, leave or are slow end with the same events as a permanent reader', async () => {
  await fc.assert(fc.asyncProperty(anyScenario, check), { numRuns: RUNS, endOnFailure: true });
  // the scenarios cover gaps, takeovers and pauses
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(3);
}, 120_000);
