import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { damage } from '../../test/fixtures/states/damage.ts';
import {
  agentFor,
  answersTo,
  stateAfter,
  turnArb,
} from '../../test/fixtures/states/scripted-states.ts';
import { AgentError } from '../errors/agent-error.ts';
import { AgentState, type AgentStateJSON } from './agent-state.ts';
import { isOpen } from './agent-status.ts';

const copy = (state: AgentState): AgentStateJSON =>
  JSON.parse(JSON.stringify(state)) as AgentStateJSON;
const revived = (state: AgentState): AgentState => AgentState.from(copy(state));

const turns = fc.array(turnArb, { minLength: 1, maxLength: 3 });
const runs = { numRuns: 60 };

describe('the whole state as JSON', () => {
  it('D28: keeps every field through JSON, usage and cost included', async () => {
    await fc.assert(
      fc.asyncProperty(turns, async (script) => {
        const state = await stateAfter(AgentState.empty(), script);
        const again = revived(state);
        expect(copy(again)).toEqual({ ...copy(state), executionStartedAt: null });
        expect(again.usage).toEqual(state.usage);
        expect(again.info.usage).toEqual(state.info.usage);
        expect(again.usage.total).toBe(state.usage.total);
        expect(again.outputText).toBe(state.outputText);
        expect(again.lastContinuationOutcome?.explain()).toBe(
          state.lastContinuationOutcome?.explain(),
        );
        expect(AgentState.from(copy(again)).toJSON()).toEqual(again.toJSON());
      }),
      runs,
    );
  });

  it('D28: a revived state continues exactly like the original', async () => {
    await fc.assert(
      fc.asyncProperty(turns, async (script) => {
        const state = await stateAfter(AgentState.empty(), script);
        const finish = async (from: AgentState): Promise<AgentState> => {
          let next = from;
          for (let i = 0; next.status === 'paused' && i < 20; i++)
            next = await agentFor('paused work done', 'more').resume(next, {
              approvals: answersTo(next, 'approve'),
            });
          return agentFor('goodbye').run(next.withUserMessage('and now?'));
        };
        const live = await finish(state);
        const stored = await finish(revived(state));
        expect(stored.status).toBe(live.status);
        expect(stored.info.usage).toEqual(live.info.usage);
        expect(stored.info.stepCount).toBe(live.info.stepCount);
        expect(stored.messages.slice(0).map(({ content }) => content)).toEqual(
          live.messages.slice(0).map(({ content }) => content),
        );
        expect(stored.messages.pairingProblem()).toBeNull();
      }),
      runs,
    );
  });

  it('never restores the wall clock, and reads 0 from old data without session time', async () => {
    const state = await agentFor('hi').run('hello');
    expect(state.executionStartedAt).not.toBeNull();
    expect(copy(state).executionStartedAt).toBe(state.executionStartedAt);
    expect(revived(state).executionStartedAt).toBeNull();
    const { cumulativeExecutionSeconds: _, ...info } = copy(state).info;
    const old = AgentState.from({ ...copy(state), info } as never);
    expect(old.info.cumulativeExecutionSeconds).toBe(0);
  });
});

const folder = 'test/fixtures/states';
const fixtures = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => ({
    file,
    document: JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as AgentStateJSON,
  }));

describe('D37: documents of every version', () => {
  it('exist as fixtures for every version', () => {
    const versions = new Set(fixtures.map(({ document }) => document.version as number));
    expect(versions).toEqual(new Set([0, 1, 2]));
  });

  it.each(fixtures)('$file loads and takes a turn', async ({ document }) => {
    const state = AgentState.from(document);
    const before = state.info.usage.total;
    const agent = agentFor('still here', 'and again');
    const ready = isOpen(state.status)
      ? await agent.resume(state, { approvals: answersTo(state, 'approve') })
      : state;
    const after = await agent.run(ready.withUserMessage('are you there?'));
    expect(after.status).toBe('completed');
    expect(after.info.startedAt).toBe(state.info.startedAt);
    expect(after.info.usage.total).toBeGreaterThan(before);
    expect(after.messages.pairingProblem()).toBeNull();
    expect(AgentState.from(JSON.parse(JSON.stringify(after))).toJSON().version).toBe(1);
  });

  it.each(fixtures.filter(({ document }) => document.version === 1))(
    '$file is read without loss',
    ({ document }) => {
      const read: unknown = JSON.parse(JSON.stringify(AgentState.from(document)), withoutAdded);
      expect(read).toEqual({ ...document, executionStartedAt: null });
    },
  );

  it('rejects a newer version with a remedy', () => {
    const error = refusal({ ...copy(AgentState.empty()), version: 3 });
    expect(error.code).toBe('unsupported_state_version');
    expect(error.message).toBe(
      'This state has version 3, and this release reads versions up to 2. It was written by a newer ' +
        'release: upgrade onward here, or finish the session there.',
    );
  });
});

/** Drops what reading adds to documents of earlier releases: facts of evaluations, and failures by kind. */
const withoutAdded = (key: string, value: unknown): unknown =>
  ['facts', 'modelFailures', 'toolFailures'].includes(key) ? undefined : value;

function refusal(document: unknown): AgentError {
  try {
    AgentState.from(document as never);
  } catch (error) {
    if (AgentError.is(error)) return error;
    throw error;
  }
  throw new Error('the document was accepted');
}

const sound = copy(AgentState.empty());
const step = { number: 1, toolCalls: [] };

const brokenDocuments: readonly (readonly [document: unknown, says: string])[] = [
  [null, 'it is null, expected the object that state.toJSON() returns'],
  ['{}', 'it is "{}", expected the object'],
  [[], 'it is an array of 0, expected the object'],
  [{}, 'its version is undefined, expected a whole number up to 2'],
  [{ ...sound, version: '1' }, 'its version is "1", expected a whole number'],
  [{ version: 1, role: 'user', content: 'hi' }, 'agentId is undefined, expected a string'],
  [{ ...sound, status: 'sleeping' }, 'status is "sleeping", expected one of pending'],
  [{ ...sound, info: null }, 'info is null, expected an object with'],
  [{ ...sound, info: {} }, 'info.startedAt is undefined, expected a string'],
  [
    { ...sound, info: { startedAt: 'x', usage: { total: '3' } } },
    'info.usage.total is "3", expected a finite number',
  ],
  [{ ...sound, execution: 3 }, 'execution is 3, expected an object with'],
  [
    { ...sound, execution: { id: 'e', stepCount: null } },
    'execution.stepCount is null, expected a finite number',
  ],
  [{ ...sound, messages: {} }, 'messages is an empty object, expected a list'],
  [
    { ...sound, messages: [{ role: 'robot', content: '' }] },
    'This is not a message: its role is "robot"',
  ],
  [{ ...sound, steps: undefined }, 'steps is undefined, expected a list'],
  [{ ...sound, steps: [7] }, 'steps[0] is 7, expected an object with'],
  [{ ...sound, steps: [{ ...step, errors: null }] }, 'steps[0].errors is null, expected a list'],
  [
    { ...sound, steps: [{ ...step, toolCalls: [{ id: 1 }] }] },
    'steps[0].toolCalls[0].id is 1, expected a string',
  ],
  [
    { ...sound, steps: [{ ...step, outcome: { decision: 'maybe', evaluations: [] } }] },
    'ContinuationOutcome.from() got an object with decision, evaluations',
  ],
  [
    { ...sound, lastContinuationOutcome: { decision: 'stop', evaluations: [null] } },
    'lastContinuationOutcome.evaluations[0] is null, expected an object',
  ],
  [
    { ...sound, unfinishedStep: { ...step, children: [] } },
    'unfinishedStep.children is an array of 0, expected an object',
  ],
  [
    { ...sound, unfinishedStep: { ...step, children: { c: { version: 1 } } } },
    'agentId is undefined, expected a string',
  ],
  [
    { ...sound, pause: { kind: 'aproval', at: '' } },
    'pause.kind is "aproval", expected one of approval, input, requested, handover, fork',
  ],
  [{ ...sound, pause: { kind: 'approval' } }, 'pause.at is undefined, expected a string'],
  [
    { ...sound, pause: { kind: 'approval', at: '', pendingApprovals: [{}] } },
    'pause.pendingApprovals[0].callId is undefined, expected a string',
  ],
  [{ ...sound, metadata: 'none' }, 'metadata is "none", expected an object'],
];

describe('invalid documents', () => {
  it.each(brokenDocuments.map(([document, says]) => ({ document, says })))(
    '$says',
    ({ document, says }) => {
      const error = refusal(document);
      expect(error.code).toBe('invalid_state');
      expect(error.message).toContain(says);
    },
  );

  it('are rejected as invalid or read without harm, for any damage', async () => {
    const sources = fixtures.map(({ document }) => document);
    const junk = fc.constantFrom<unknown>(null, undefined, 0, -1, 'x', true, [], {}, [null], [{}]);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...sources),
        fc.array(fc.nat(), { minLength: 1, maxLength: 8 }),
        junk,
        async (source, path, value) => {
          const document = structuredClone(source) as unknown;
          damage(document, path, value);
          let state: AgentState;
          try {
            state = AgentState.from(document as never);
          } catch (error) {
            expect(AgentError.is(error, 'invalid_state'), String(error)).toBe(true);
            return;
          }
          JSON.stringify(state);
          state.lastContinuationOutcome?.explain();
          const agent = agentFor('yes', 'yes', 'yes');
          const ended = agent.stop(state.withAgentName('clerk'));
          const after = await agent.run(ended.withUserMessage('continue'));
          expect(after.messages.last()?.content).toBe('yes');
        },
      ),
      { numRuns: 400 },
    );
  });
});
