import { ErrorPolicy, SessionRuntime, type Agent } from 'onward';
import { describe, expect, it } from 'vitest';
import { mortal } from './setup/mortal-store.ts';
import { parked, parkings, type Parked, type Parking } from './setup/parked-exits.ts';
import { wires, type Said, type Wire } from './setup/provider-wires.ts';
import { ann, isSound, runtimeOn, sqlitePlace, waiting } from './setup/sessions.ts';
import { builderFor, exits, scene, type Exit, type Scene } from './setup/turn-exits.ts';
import { turnsInMemory, turnsInSession, type Turns } from './setup/turns.ts';

/** The agent of the turn and the agent of the next turn. */
function agentsFor(exit: Exit, on: Scene): readonly [Agent, Agent] {
  const builder = builderFor(on);
  const agent = (exit.with?.(builder, on) ?? builder).build();
  return [agent, exit.isLasting ? builder.build() : agent];
}

async function leavesAndReturns(exit: Exit, on: Scene, turns: Turns, next: Agent): Promise<void> {
  await (exit.act?.(turns, on) ?? turns.begin());
  const { status, stopReason } = await turns.ending();
  if (exit.ends) expect({ status, stopReason }).toEqual(exit.ends);
  else expect(['completed', 'stopped', 'failed']).toContain(status);
  for (const output of await turns.next(next)) expect(output).toBe('next');
  for (const { problems } of on.providers) expect(problems).toEqual([]);
}

const inMemory = (exit: Exit, wire: Wire, isStreaming: boolean): Promise<void> => {
  const on = scene(wire, exit.script);
  const [agent, next] = agentsFor(exit, on);
  return leavesAndReturns(exit, on, turnsInMemory(agent, isStreaming), next);
};

const inSession = (exit: Exit, wire: Wire): Promise<void> => {
  const on = scene(wire, exit.script);
  const [agent, next] = agentsFor(exit, on);
  const place = sqlitePlace();
  const runtime = runtimeOn(place.open(), agent);
  runtime.wiretap(() => {}); // streams the answers
  const later = (given: Agent) => runtimeOn(place.open(), given);
  return leavesAndReturns(exit, on, turnsInSession(runtime, 's', later), next);
};

/** Kills a process while a non-idempotent tool runs, then recovers the session in another process. */
async function afterACrash(wire: Wire, answers: readonly Said[], ends: string): Promise<void> {
  const on = scene(wire, [{ calls: [{ name: 'look' }, { name: 'wait' }] }, ...answers]);
  const place = sqlitePlace();
  const policy = ErrorPolicy.ignoreToolErrors().withHandling('unknown', 'ignore');
  const builder = builderFor(on);
  const agent = (answers.length > 0 ? builder.withErrorPolicy(policy) : builder).build();
  const doomed = mortal(place.open());
  const lease = { leaseMs: 200, heartbeatMs: 40, signalMs: 40 };
  const first = new SessionRuntime({ store: doomed.store, agents: [agent], lease });
  await first.create({ id: 's', ...ann });
  await first.send('s', 'go', ann);
  await on.begun.passed;
  doomed.die();
  const second = runtimeOn(place.open(), agent, { lease });
  await expect.poll(() => second.recover()).toBe(1);
  expect(await second.wait('s', ann)).toMatchObject({ status: ends });
  expect(await second.send('s', 'and now?', waiting)).toMatchObject({ output: 'next' });
  expect(on.provider.problems).toEqual([]);
}

/** The ways to end a parked session. */
const afterParking = {
  'then retried, with one more failure': ({ runtime, repair }: Parked) => {
    repair(1);
    return runtime.retry('s', waiting);
  },
  'then stopped': ({ runtime, repair }: Parked) => {
    repair();
    return runtime.stop('s', waiting);
  },
  'then stopped before the cause is fixed': async ({ runtime, repair }: Parked) => {
    const session = await runtime.stop('s', waiting);
    repair();
    return session;
  },
} as const;

async function leavesParking(
  wire: Wire,
  { script, rest, ends, ...parking }: Parking,
  exit: keyof typeof afterParking,
): Promise<void> {
  const isRetry = exit.startsWith('then retried');
  const on = scene(wire, isRetry ? [...script, ...rest] : script);
  const at = await parked(parking, on, sqlitePlace());
  const idle = { phase: 'idle', tries: 0, error: null, parkedAt: null };
  const status = isRetry ? ends : 'stopped';
  expect(await afterParking[exit](at)).toMatchObject({ ...idle, status });
  const next = { ...idle, status: 'completed', output: 'next' };
  expect(await at.runtime.send('s', 'and now?', waiting)).toMatchObject(next);
  await isSound(at.runtime, 's');
  expect(on.provider.problems).toEqual([]);
}

describe.each(wires.map((wire) => [wire.name, wire] as const))(
  'D78: the next turn works after any ending: %s',
  (_name, wire) => {
    const rows = exits.map((exit) => [exit.name, exit] as const);
    it.each(rows)('%s, not streamed', (_exit, exit) => inMemory(exit, wire, false));
    it.each(rows)('%s, streamed', (_exit, exit) => inMemory(exit, wire, true));
    it.each(rows)('%s, in a session', (_exit, exit) => inSession(exit, wire));
    it('a crash during a tool call', () => afterACrash(wire, [], 'failed'));
    it('a crash during a tool call that is reported to the model', () =>
      afterACrash(wire, [{ text: 'So be it.' }], 'completed'));
    const ways = Object.keys(afterParking) as (keyof typeof afterParking)[];
    it.each(
      parkings.flatMap((parking) => ways.map((way) => [parking.name, way, parking] as const)),
    )('parked %s, %s', (_parking, way, parking) => leavesParking(wire, parking, way));
  },
);
