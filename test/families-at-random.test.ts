import {
  AgentBuilder,
  ErrorPolicy,
  sessionCostLimit,
  sessionTokenUsageLimit,
  type Agent,
  type AgentState,
  type Grants,
} from 'onward';
import { fakeClock, mockTool, type FakeClock } from 'onward/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { approve } from './setup/approvals.ts';
import { asTool, Meter, meteredModel, type Spoken } from './setup/families.ts';
import { stored } from './setup/states.ts';
import { expectReplayed } from './setup/replayed.ts';

/** One model answer: a call of a plain tool, of a tool that needs approval or of another agent, or a failure. */
interface Turn {
  readonly does: 'look' | 'pay' | 'agent' | 'fail' | 'fail silently';
  readonly times: number;
  readonly tokens: number;
  readonly delayMs: number;
}
/** An agent: its turns before the final answer, its nested agents and its limits. */
interface Member {
  readonly turns: readonly Turn[];
  readonly children: readonly Member[];
  readonly maxTokens: number | null;
  readonly isHooked: boolean;
}
interface Family {
  readonly root: Member;
  /** In tokens or the same number of cost units. */
  readonly limit: number | null;
  readonly unit: 'tokens' | 'cost' | 'tokens of the session' | 'cost of the session';
  readonly maxFamilySteps: number | null;
  readonly landing: number | null;
  /** For each round of approvals, how many pending calls are answered. */
  readonly rounds: readonly number[];
  readonly abortAfterMs: number | null;
  /** Whether the first stop is answered with the suggested grant. */
  readonly grants: boolean;
}

/** Set `FAMILY_RUNS` higher for a longer search. */
const RUNS = Number(process.env['FAMILY_RUNS'] ?? 60);

const turn: fc.Arbitrary<Turn> = fc.record({
  does: fc.constantFrom('look', 'pay', 'agent', 'agent', 'agent', 'fail', 'fail silently'),
  times: fc.constantFrom(1, 1, 2, 3, 9),
  tokens: fc.integer({ min: 1, max: 900 }),
  delayMs: fc.integer({ min: 0, max: 40 }),
});
/** An agent with these nested agents. Families are three levels deep. */
const memberOver = (children: fc.Arbitrary<readonly Member[]>): fc.Arbitrary<Member> =>
  fc.record({
    turns: fc.array(turn, { minLength: 1, maxLength: 3 }),
    children,
    maxTokens: fc.option(fc.integer({ min: 100, max: 3000 }), { freq: 3 }),
    isHooked: fc.boolean(),
  });
const leaf = memberOver(fc.constant([]));
const middle = memberOver(fc.array(leaf, { maxLength: 2 }));
const anyRoot = memberOver(fc.array(middle, { minLength: 1, maxLength: 2 }));
const anyFamily: fc.Arbitrary<Family> = fc.record({
  root: anyRoot,
  limit: fc.option(fc.integer({ min: 50, max: 6000 }), { freq: 4 }),
  unit: fc.constantFrom('tokens', 'tokens', 'cost', 'tokens of the session', 'cost of the session'),
  maxFamilySteps: fc.option(fc.integer({ min: 1, max: 15 }), { freq: 2 }),
  landing: fc.option(fc.integer({ min: 1, max: 500 }), { freq: 2 }),
  rounds: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 6 }),
  abortAfterMs: fc.option(fc.integer({ min: 0, max: 200 }), { freq: 2 }),
  grants: fc.boolean(),
});

interface Build {
  readonly clock: FakeClock;
  readonly meter: Meter;
  readonly family: Family;
}

function agentOf({ clock, meter, family }: Build, member: Member, path: string): AgentBuilder {
  const children = member.children.map((child, i) =>
    asTool(agentOf({ clock, meter, family }, child, `${path}.${i}`).build(), `agent_${i}`),
  );
  const speak = (answers: number): Spoken => {
    const next = member.turns[answers];
    if (next === undefined) return { text: `${path} is done`, tokens: 20, cost: 20 };
    const { does, times, tokens, delayMs } = next;
    if (does === 'fail' || does === 'fail silently') {
      const fails = does === 'fail' ? 'with usage' : 'without usage';
      return { fails, tokens, cost: tokens, delayMs };
    }
    const call =
      does === 'agent'
        ? children.length > 0
          ? `agent_${answers % children.length}`
          : 'look'
        : does;
    return { call, times, tokens, cost: tokens, delayMs };
  };
  const builder = AgentBuilder.base()
    .withName(path)
    .withDriver(meteredModel(path, meter, speak, clock))
    .withTools(mockTool('look'), mockTool('pay', 'paid', { needsApproval: true }), ...children)
    .withErrorPolicy(ErrorPolicy.retryAll(2).withBackoff({ initialMs: 1, jitter: 0 }))
    .withClock(clock);
  const hooked = member.isHooked
    ? builder.withHooks({ name: 'around', aroundStep: (input, next) => next(input) })
    : builder;
  return member.maxTokens === null || path === 'root'
    ? hooked
    : hooked.withMaxTokens(member.maxTokens);
}

const limited: Record<Family['unit'], (b: AgentBuilder, limit: number) => AgentBuilder> = {
  tokens: (b, limit) => b.withMaxTokens(limit),
  cost: (b, limit) => b.withMaxCost(limit),
  'tokens of the session': (b, limit) => b.addContinuationCriteria(sessionTokenUsageLimit(limit)),
  'cost of the session': (b, limit) => b.addContinuationCriteria(sessionCostLimit(limit)),
};

/** Combines the grants that the forbidding limits suggest, or null if one of them takes no grant. */
function grantFor({ lastContinuationOutcome: outcome }: AgentState): Grants | null {
  const forbidding = outcome?.evaluations.filter(({ decision }) => decision === 'forbid') ?? [];
  if (forbidding.length === 0 || forbidding.some(({ remedy }) => !remedy?.grant)) return null;
  return Object.assign({}, ...forbidding.map(({ remedy }) => remedy?.grant)) as Grants;
}

function rootOf(build: Build): Agent {
  const { limit, unit, maxFamilySteps, landing, root } = build.family;
  let builder = agentOf(build, root, 'root');
  if (limit !== null) builder = limited[unit](builder, limit);
  if (maxFamilySteps !== null) builder = builder.withMaxFamilySteps(maxFamilySteps);
  if (landing !== null) builder = builder.withSoftLanding({ tokens: landing, seconds: 1 });
  return builder.build();
}

/** Advances the clock until the run ends. A run that never ends is a deadlock. */
async function over(clock: FakeClock, running: Promise<AgentState>): Promise<AgentState> {
  let state: AgentState | null = null;
  const noted = running.then((ended) => (state = ended));
  noted.catch(() => {});
  for (let i = 0; i < 400 && state === null; i++) await Promise.race([clock.advance(25), noted]);
  if (state === null) throw new Error('the family is in a deadlock');
  return noted;
}

async function play(family: Family): Promise<{ state: AgentState; meter: Meter }> {
  const clock = fakeClock();
  const meter = new Meter(family.limit ?? undefined);
  const controller = new AbortController();
  const { abortAfterMs, rounds } = family;
  if (abortAfterMs !== null) clock.after(abortAfterMs, () => controller.abort('enough'));
  const fresh = (): Agent => rootOf({ clock, meter, family });
  const { signal } = controller;
  let state = await over(clock, fresh().run('go', { signal }));
  let mayGrant = family.grants;
  for (let round = 0; ; round++) {
    const grant = mayGrant && state.status === 'stopped' ? grantFor(state) : null;
    if (state.status !== 'paused' && (grant === null || signal.aborted)) break;
    const waiting = state.pendingApprovals.slice(0, rounds[round] ?? 100);
    const approvals = Object.fromEntries(waiting.map(({ callId }) => [callId, approve]));
    // simulates a resume in another process
    meter.forget();
    if (grant) {
      mayGrant = false;
      meter.raise((family.unit === 'cost' ? grant.cost : grant.tokens) ?? 0);
    }
    const given = grant ? { grant, signal } : { approvals, signal };
    state = await over(clock, fresh().resume(stored(state), given));
  }
  return { state, meter };
}

describe('D79: random families with parallel, nested, paused, resumed, failing and aborted runs', () => {
  it('spend at most the limit plus the calls in flight, record all usage and never deadlock', async () => {
    await fc.assert(
      fc.asyncProperty(anyFamily, async (family) => {
        const { state, meter } = await play(family);
        const { maxFamilySteps, abortAfterMs } = family;
        const { execution } = state;
        const shares = execution.family ?? [];
        expect(meter.inFlight.size).toBe(0);
        expect(meter.spent).toBeLessThanOrEqual(meter.limit + meter.overdraft);
        const kept = family.unit.startsWith('tokens') ? (family.landing ?? 0) : 0;
        for (const { agent, spent, reserved, limit } of meter.starts)
          expect(spent + reserved + (agent === 'root' ? 0 : kept)).toBeLessThan(limit);
        if (abortAfterMs === null) expect(state.usage.total).toBe(meter.spent);
        const nested = shares.reduce((sum, { tokens }) => sum + tokens, 0);
        const own = state.steps.toJSON().length === 0 ? 0 : state.usage.total - nested;
        expect(own).toBeGreaterThanOrEqual(0);
        const steps = shares.reduce((sum, share) => sum + share.steps, execution.answeredSteps);
        const granted = execution.grants.steps ?? 0;
        expect(steps).toBeLessThanOrEqual((maxFamilySteps ?? 100) + granted);
        if (abortAfterMs === null) expect(steps).toBe(meter.calls - meter.failed);
        expect(state.messages.pairingProblem()).toBeNull();
        expectReplayed(state);
      }),
      { numRuns: RUNS },
    );
  }, 120_000);

  it('produce the same trace from the same script', async () => {
    await fc.assert(
      fc.asyncProperty(anyFamily, async (family) => {
        const [a, b] = [await play(family), await play(family)];
        const order = ({ meter }: typeof a): string[] => meter.starts.map(({ agent }) => agent);
        expect(order(a)).toEqual(order(b));
        expect(a.meter.spent).toBe(b.meter.spent);
        expect(a.state.execution.family).toEqual(b.state.execution.family);
        expect(a.state.stopReason).toBe(b.state.stopReason);
      }),
      { numRuns: RUNS / 3 },
    );
  }, 120_000);
});
