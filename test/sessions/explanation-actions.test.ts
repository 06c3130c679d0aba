import * as fc from 'fast-check';
import {
  explainOutcome,
  explainState,
  SessionRuntime,
  type Explanation,
  type ExplanationAction,
  type Session,
  type SessionRuntimeOptions,
} from 'onward';
import { memoryStore } from 'onward/stores/memory';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import type { GrantCaps } from '../../src/continuation/grant-allowance.ts';
import { stopSentenceOf } from '../../src/trace/stop-sentence-of.ts';
import { ownerCaps, plan, type Plan } from '../setup/explanation-plan.ts';
import { waitFor, worldOf } from '../setup/explanation-world.ts';
import { agentWith, ann, codeOf, runtimeOn, waiting } from '../setup/sessions.ts';

const { final, toolCall } = ScenarioStep;
const id = 's';

/** A session that has run its plan once. Each action gets a new one, because it changes the session. */
class Conversation {
  readonly runtime: SessionRuntime;
  readonly failures: unknown[] = [];
  readonly #world: ReturnType<typeof worldOf>;

  constructor(chosen: Plan, grants: GrantCaps | null) {
    this.#world = worldOf(chosen);
    const { agent, clock, requests } = this.#world;
    this.runtime = new SessionRuntime({
      store: memoryStore(),
      agents: [agent],
      clock,
      ...(grants && { grants }),
      onError: (error) => this.failures.push(error),
    });
    requests.stop = () => this.runtime.stop(id, ann);
    requests.pause = () => this.runtime.pause(id, ann);
  }

  async begin(): Promise<Session> {
    await this.runtime.create({ ...ann, id });
    const session = await this.runtime.send(id, 'go', waiting);
    this.#world.calm();
    return session;
  }

  waitFor(action: ExplanationAction): void {
    waitFor(this.#world.clock, action);
  }

  /** Carries out an action, as the owner unless it needs an operator. */
  async take(session: Session, action: ExplanationAction): Promise<Session> {
    const { runtime } = this;
    switch (action.kind) {
      case 'grant':
        return runtime.resume(id, { ...waiting, grant: action.grant, authority: 'owner' });
      case 'approve':
        for (const callId of action.callIds) await runtime.approve(id, callId, waiting);
        return runtime.get(id, ann);
      case 'input':
        for (const inputId of action.inputIds)
          await runtime.answer(id, inputId, {
            ...waiting,
            answer: { action: 'accept', content: {} },
          });
        return runtime.get(id, ann);
      case 'resume':
        return runtime.resume(id, waiting);
      case 'new_message':
        return runtime.send(id, 'Something else.', waiting);
      case 'ask_operator': {
        const grant = neededBy(session);
        const asOwner = { ...waiting, grant, authority: 'owner' } as const;
        const code = await codeOf(() => runtime.resume(id, asOwner));
        if (code !== 'grant_refused') throw new Error(`the owner gets ${code}`);
        return runtime.resume(id, { ...waiting, grant, by: 'ops' });
      }
      // the change is outside of the session: after it, another session works
      case 'change': {
        const { id: other } = await runtime.create(ann);
        return runtime.send(other, 'Something else.', waiting);
      }
      default:
        throw new Error(`no such run offers ${action.kind}`);
    }
  }
}

/** Returns the grant that an operator sees, for whom there is no cap. */
function neededBy({ outcome }: Session) {
  const action = outcome && explainOutcome(outcome).actions.find(({ kind }) => kind === 'grant');
  if (action?.kind !== 'grant') throw new Error('no grant helps');
  return action.grant;
}

const memoryRuntime = (
  steps: readonly ScenarioStep[],
  options: Partial<SessionRuntimeOptions> = {},
): SessionRuntime =>
  runtimeOn(memoryStore(), agentWith(steps, mockTool('search', 'found')), options);

/** Returns the explanation of a stopped or paused session, which is the same on every surface. */
function explanationOf(session: Session): Explanation {
  const explanation = explainState(session);
  expect(stopSentenceOf(session)?.explanation).toEqual(explanation);
  return explanation;
}

const answered = ({ info }: Session): number => info.answeredSteps;

async function works(
  chosen: Plan,
  grants: GrantCaps | null,
  expected: Explanation,
  place: number,
  change: (action: ExplanationAction) => ExplanationAction = (action) => action,
): Promise<void> {
  const conversation = new Conversation(chosen, grants);
  const session = await conversation.begin();
  const { actions } = explanationOf(session);
  expect(actions.map(({ text }) => text)).toEqual(expected.actions.map(({ text }) => text));
  const [first] = actions;
  if (first?.kind === 'wait') conversation.waitFor(first);
  const action = change(actions[place] as ExplanationAction);
  let after = await conversation.take(session, action);
  // a slow tool may reach the time limit after its approval: what is offered then works
  if (action.kind === 'approve' && after.stopReason === 'time_limit') {
    const [next] = explanationOf(after).actions;
    after = await conversation.take(after, next!);
  }
  const before = after.id === session.id ? answered(session) : 0;
  expect(answered(after), `${action.kind}: ${action.text}`).toBeGreaterThan(before);
  expect(conversation.failures).toEqual([]);
  await conversation.runtime.close({ graceMs: 0 });
}

describe('every action that a session offers works', () => {
  it('property: leads to at least one more answered step through the runtime', async () => {
    const kinds = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        plan,
        fc.option(ownerCaps, { nil: null, freq: 2 }),
        async (chosen, grants) => {
          const session = await new Conversation(chosen, grants).begin();
          const explanation = explanationOf(session);
          const { actions } = explanation;
          if (session.stopReason !== 'completed') expect(actions.length).toBeGreaterThan(0);
          for (const [place, action] of actions.entries()) {
            kinds.add(action.kind);
            if (action.kind === 'wait') continue;
            await works(chosen, grants, explanation, place);
            if (action.kind === 'grant')
              await works(chosen, grants, explanation, place, (offered) =>
                offered.kind === 'grant' ? { ...offered, grant: offered.minimum } : offered,
              );
          }
        },
      ),
      { numRuns: 100 },
    );
    expect([...kinds].toSorted()).toEqual([
      'approve',
      'ask_operator',
      'change',
      'grant',
      'input',
      'new_message',
      'resume',
      'wait',
    ]);
  }, 300_000);

  it('a parked session offers retry, which continues it once the cause is fixed', async () => {
    let isBroken = true;
    const runtime = memoryRuntime([final('Done.')], {
      lease: { leaseMs: 300, heartbeatMs: 100 },
      deps: () => {
        if (isBroken) throw new Error('tenant was removed');
        return {};
      },
      onError: () => {},
    });
    runtime.start();
    await runtime.create({ ...ann, id });
    const parked = await runtime.send(id, 'go', waiting);
    expect(explanationOf(parked).actions.map(({ kind }) => kind)).toEqual(['retry']);
    isBroken = false;
    expect((await runtime.retry(id, waiting)).output).toBe('Done.');
  });

  it('a fork offers resume, which runs its next step', async () => {
    const runtime = memoryRuntime([toolCall('search'), final('Done.'), final('Done again.')]);
    await runtime.create({ ...ann, id });
    await runtime.send(id, 'go', waiting);
    const fork = await runtime.fork(id, { ...ann, atStep: 1 });
    expect(explanationOf(fork)).toMatchObject({
      headline: 'Waiting because this fork has not been resumed.',
      actions: [{ kind: 'resume' }],
    });
    expect((await runtime.resume(fork.id, waiting)).output).toBe('Done again.');
  });
});
