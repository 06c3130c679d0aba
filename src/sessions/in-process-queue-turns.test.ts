import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inProcessQueue } from './in-process-queue.ts';

const OWNERS = ['a', 'b', 'c'];
const AGENTS = ['free', 'slow', 'slower'];
const SESSIONS = 25;

interface Limits {
  readonly concurrency: number;
  readonly maxPerOwner: number;
  readonly agents: { readonly slow: number; readonly slower: number };
}
const limits: fc.Arbitrary<Limits> = fc.record({
  concurrency: fc.integer({ min: 1, max: 6 }),
  maxPerOwner: fc.integer({ min: 1, max: 6 }),
  agents: fc.record({
    slow: fc.integer({ min: 1, max: 4 }),
    slower: fc.integer({ min: 1, max: 2 }),
  }),
});

type Action = { readonly add: number; readonly isUrgent: boolean } | { readonly end: number };
const actions: fc.Arbitrary<Action[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        add: fc.nat(SESSIONS - 1),
        isUrgent: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      }),
    },
    { weight: 4, arbitrary: fc.record({ end: fc.nat(SESSIONS - 1) }) },
  ),
  { minLength: 1, maxLength: 150, size: 'max' },
);

interface Known {
  readonly id: string;
  readonly owner: string;
  readonly agent: string;
}
const session = (n: number): Known => ({
  id: `s${n}`,
  owner: OWNERS[n % OWNERS.length] ?? '',
  agent: AGENTS[Math.floor(n / OWNERS.length) % AGENTS.length] ?? '',
});

/** Observes a queue from outside and records each rule that it violates. */
function watched(given: Limits) {
  const queue = inProcessQueue(given);
  const broken: string[] = [];
  const waiting = new Map<string, Known>();
  const urgent = new Set<string>();
  const running = new Map<string, { readonly known: Known; end(): void }>();
  const beyondLimits = new Set<string>();
  /** For each waiting owner that no limit holds back: the owners that have started a session since. */
  const passed = new Map<string, Set<string>>();

  const counted = (isOf: (known: Known) => boolean): number =>
    [...running.values()].filter(({ known }) => !beyondLimits.has(known.id) && isOf(known)).length;
  const isHeldBack = ({ id, owner, agent }: Known): boolean =>
    running.has(id) ||
    counted((other) => other.owner === owner) >= given.maxPerOwner ||
    counted((other) => other.agent === agent) >= (given.agents[agent as 'slow'] ?? SESSIONS);
  const noteEligible = (): void => {
    const eligible = new Set(
      [...waiting.values()].filter((known) => !isHeldBack(known)).map(({ owner }) => owner),
    );
    for (const owner of passed.keys()) if (!eligible.has(owner)) passed.delete(owner);
    for (const owner of eligible) if (!passed.has(owner)) passed.set(owner, new Set());
  };
  const noteTurn = (known: Known): void => {
    const { id, owner } = known;
    if (!waiting.delete(id)) broken.push(`${id} begins without being added`);
    if (isHeldBack(known)) broken.push(`${id} begins beyond a limit`);
    passed.delete(owner);
    for (const [other, since] of passed) {
      if (since.has(owner)) broken.push(`${owner} begins again while ${other} waits`);
      since.add(owner);
    }
  };
  queue.start((id) => {
    const known = session(Number(id.slice(1)));
    if (running.has(id)) broken.push(`${id} runs twice`);
    if (urgent.delete(id)) beyondLimits.add(id);
    else noteTurn(known);
    return new Promise((resolve) => {
      running.set(id, { known, end: resolve });
      noteEligible();
    });
  });

  const settle = async (): Promise<void> => {
    await new Promise(setImmediate);
    noteEligible();
    const inAll = counted(() => true);
    if (inAll > given.concurrency) broken.push(`${inAll} run at the same time`);
    if (inAll < given.concurrency && passed.size > 0) broken.push('capacity is left unused');
    if (queue.waiting !== waiting.size) broken.push(`${queue.waiting} wait, not ${waiting.size}`);
    expect(broken).toEqual([]);
  };
  return {
    running,
    owed: (): string[] => [...waiting.keys(), ...urgent],
    async add(n: number, isUrgent: boolean): Promise<void> {
      const known = session(n);
      if (isUrgent) {
        urgent.add(known.id);
        waiting.delete(known.id);
      } else if (!urgent.has(known.id)) waiting.set(known.id, known);
      noteEligible();
      await queue.add(known.id, { ...known, isUrgent });
      await settle();
    },
    async end(id: string): Promise<void> {
      const turn = running.get(id);
      running.delete(id);
      beyondLimits.delete(id);
      noteEligible();
      turn?.end();
      await settle();
    },
  };
}

describe('turns in the in-process queue', () => {
  it('are fair and within all limits, without lost or duplicate sessions', async () => {
    await fc.assert(
      fc.asyncProperty(limits, actions, async (given, all) => {
        const { running, owed, add, end } = watched(given);
        for (const action of all) {
          const ids = [...running.keys()];
          if ('add' in action) await add(action.add, action.isUrgent);
          else await end(ids[action.end % ids.length] ?? '');
        }
        while (running.size > 0) for (const id of Array.from(running.keys())) await end(id);
        expect(owed()).toEqual([]);
      }),
      { numRuns: 80 },
    );
  });
});
