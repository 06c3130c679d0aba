import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  agentFor,
  answersTo,
  stateAfter,
  turnArb,
} from '../../test/fixtures/states/scripted-states.ts';
import { AgentBuilder } from '../agent/agent-builder.ts';
import { AgentState } from '../agent/agent-state.ts';
import { isOpen } from '../agent/agent-status.ts';
import { Message } from '../messages/message.ts';
import { DeterministicDriver } from '../testing/deterministic-driver.ts';
import { mockTool } from '../testing/mock-tool.ts';
import { ScenarioStep } from '../testing/scenario-step.ts';
import { SlimAgentStateSerializer } from './slim-agent-state-serializer.ts';
import { SlimSerializationConfig } from './slim-serialization-config.ts';

const { minimal, standard, full } = SlimSerializationConfig;

/** Writes a state as a slim document and reads it back. */
function throughSlim(
  state: AgentState,
  config: Partial<SlimSerializationConfig> = standard(),
): AgentState {
  const serializer = new SlimAgentStateSerializer(config);
  return serializer.deserialize(JSON.parse(JSON.stringify(serializer.serialize(state))));
}

/** A state in which one call ran and one needs approval. */
const paused = (first: AgentState = AgentState.empty()): Promise<AgentState> =>
  agentFor(
    ScenarioStep.toolCall('search', { query: 'Aurora' }),
    ScenarioStep.toolCalls([
      { name: 'search', args: { query: 'leads' } },
      { name: 'danger', args: { target: 'lead 7' } },
    ]),
  ).run(first.withUserMessage('Delete lead 7.'));

describe('an open execution', () => {
  it.each([
    ['standard', standard()],
    ['full', full()],
  ])(
    'continues in another process through %s after a pause for approval',
    async (_name, config) => {
      const state = await paused();
      const again = throughSlim(state, config);
      expect(again.status).toBe('paused');
      expect(again.pause).toEqual(state.pause);
      expect(again.pendingApprovals).toEqual(state.pendingApprovals);
      expect(again.currentStep).toEqual(state.currentStep);
      const search = mockTool('search', 'must not run again');
      const danger = mockTool('danger', 'deleted', { needsApproval: true });
      const after = await AgentBuilder.base()
        .withName('clerk')
        .withTools(search, danger)
        .withDriver(DeterministicDriver.fromResponses('Lead 7 is gone.'))
        .build()
        .resume(again, { approvals: answersTo(again, 'approve') });
      expect(after.status).toBe('completed');
      expect(after.output).toBe('Lead 7 is gone.');
      expect(search.calls).toEqual([]);
      expect(danger.calls).toEqual([{ target: 'lead 7' }]);
      expect(after.stepCount).toBe(3);
      expect(after.execution.succeededTools).toEqual(['search', 'danger']);
      expect(after.usage.total).toBe(state.usage.total + 15);
      expect(after.messages.pairingProblem()).toBeNull();
    },
  );

  it('continues in progress, with its counters and failures', async () => {
    let state = AgentState.empty();
    const script = [ScenarioStep.toolCall('broken'), ScenarioStep.toolCall('broken'), 'never'];
    for await (const next of agentFor(...script).iterate('go')) {
      state = next;
      if (state.stepCount === 2) break;
    }
    const again = throughSlim(state);
    expect(again.status).toBe('in_progress');
    expect(again.execution.consecutiveFailures).toBe(2);
    const after = await agentFor(ScenarioStep.toolCall('broken')).resume(again);
    expect(after.stopReason).toBe('retry_limit');
    expect(after.execution.totalFailures).toBe(3);
  });

  it('keeps counting the attempts of a failed model call', async () => {
    let state = AgentState.empty();
    for await (const next of agentFor(ScenarioStep.error('down'), 'never').iterate('go')) {
      state = next;
      break;
    }
    const after = await agentFor('up again').resume(throughSlim(state));
    expect(after.currentStep).toMatchObject({ attempt: 2, number: 2, type: 'final' });
  });

  it('does not reuse the call id of an earlier step that is not stored', async () => {
    const state = await paused();
    const after = await agentFor(ScenarioStep.toolCall('search'), 'done').resume(
      throughSlim(state),
      { approvals: answersTo(state, 'deny') },
    );
    const ids = after.messages.slice(0).flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(4);
  });

  it('adjusts firstMessage if older turns are removed', async () => {
    let state = AgentState.empty().withMessages(Message.system('Be kind.'));
    for (let i = 0; i < 30; i++)
      state = await agentFor(`answer ${i}`).run(state.withUserMessage(`question ${i}`));
    const waiting = await paused(state);
    const again = throughSlim(waiting);
    expect(again.messages.length).toBeLessThanOrEqual(50);
    expect(again.messages.length).toBeLessThan(waiting.messages.length);
    expect(again.messages.at(0)?.content).toBe('Be kind.');
    expect(again.messages.at(again.execution.firstMessage)?.content).toBe('Delete lead 7.');
    const after = await agentFor('done').resume(again, { approvals: answersTo(again, 'approve') });
    expect(after.status).toBe('completed');
    expect(after.info.stepCount).toBe(33);
  });

  it('continues a paused nested agent', async () => {
    const state = await agentFor(ScenarioStep.toolCall('delegate', { input: 'help' })).run('go');
    expect(state.pendingApprovals[0]?.path).toEqual(['call_1']);
    const again = throughSlim(state);
    expect(again.pendingApprovals).toEqual(state.pendingApprovals);
    const after = await agentFor('all done').resume(again, {
      approvals: answersTo(again, 'approve'),
    });
    expect(after.status).toBe('completed');
    expect(after.messages.at(2)?.content).toBe('helped');
    const live = await agentFor('all done').resume(state, {
      approvals: answersTo(state, 'approve'),
    });
    expect(after.usage).toEqual(live.usage);
  });

  it('ends the same as in one process, for any run that stays open', async () => {
    let open = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(turnArb, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(standard(), full()),
        async (turns, config) => {
          const state = await stateAfter(AgentState.empty(), turns);
          const again = throughSlim(state, config);
          expect(again.status).toBe(state.status);
          if (!isOpen(again.status)) return;
          open += 1;
          const finish = async (from: AgentState): Promise<AgentState> => {
            let next = from;
            for (let i = 0; next.status === 'paused' && i < 20; i++)
              next = await agentFor('done', 'more').resume(next, {
                approvals: answersTo(next, 'approve'),
              });
            return next;
          };
          const [live, stored] = [await finish(state), await finish(again)];
          expect(stored.status).toBe(live.status);
          expect(stored.output).toBe(live.output);
          expect({ ...stored.execution, updatedAt: '' }).toEqual({
            ...live.execution,
            updatedAt: '',
          });
          expect(stored.info.usage).toEqual(live.info.usage);
          const said = ({ messages }: AgentState) =>
            messages.slice(0).map((m) => [m.role, m.content]);
          expect(said(stored)).toEqual(said(live));
        },
      ),
      { numRuns: 80 },
    );
    expect(open).toBeGreaterThan(0);
  });
});

describe('an open execution with missing data', () => {
  const long = 'x'.repeat(1200);

  it.each<
    [string, Partial<SlimSerializationConfig>, (s: AgentState) => AgentState, readonly string[]]
  >([
    ['arguments', { includeToolArgs: false }, (s) => s, ['the arguments of search, danger']],
    ['the current step', { includeCurrentStep: false }, (s) => s, ['the current step']],
    [
      'metadata',
      { includeMetadata: false },
      (s) => s.withMetadata({ tenant: 'north' }),
      ['the metadata of the state'],
    ],
    [
      'a secret in the metadata',
      {},
      (s) => s.withMetadata({ password: 'hunter2' }),
      ['1 value hidden as secret'],
    ],
  ])('%s', async (_what, config, change, missing) => {
    const state = change(await paused());
    const serializer = new SlimAgentStateSerializer(config);
    const slim = serializer.serialize(state);
    expect(slim.status).toBe('paused');
    expect(slim.truncated?.missing ?? []).toEqual(missing);
    const again = serializer.deserialize(slim);
    expect(again.status).toBe('stopped');
  });

  it.each([
    ['its own message', (s: AgentState) => s, long, ['the rest of 1 shortened text']],
    [
      'a system message',
      (s: AgentState) => s.withMessages(Message.system(long)),
      'go',
      ['the rest of 1 shortened text'],
    ],
    ['a message of an older turn', (s: AgentState) => s.withUserMessage(long), 'go', []],
  ] as const)('a text that is too long: %s', async (_what, before, question, missing) => {
    const state = await agentFor(ScenarioStep.toolCall('danger', { target: 1 })).run(
      before(AgentState.empty()).withUserMessage(question),
    );
    const slim = new SlimAgentStateSerializer().serialize(state);
    expect(slim.truncated?.contents).toBe(1);
    expect(slim.truncated?.missing).toEqual(missing);
  });

  it('reports a removed message of the execution and a truncated result', async () => {
    let state = AgentState.empty();
    const script = [ScenarioStep.toolCall('search'), ScenarioStep.toolCall('search'), 'never'];
    for await (const next of agentFor(...script).iterate('go')) {
      state = next.withUserMessage('and hurry');
      break;
    }
    const slim = new SlimAgentStateSerializer({ maxMessages: 2 }).serialize(state);
    expect(slim.truncated).toMatchObject({
      messages: 3,
      missing: ['3 messages of this execution'],
    });
    const short = new SlimAgentStateSerializer({ maxContentLength: 20 }).serialize(await paused());
    expect(short.truncated?.missing).toEqual([
      'the rest of 1 shortened text',
      'the rest of 1 tool result',
    ]);
  });

  it('is stopped after reading: closes open calls, keeps results and lists the missing data', async () => {
    const state = await paused();
    for (const config of [minimal(), { ...standard(), includeToolArgs: false }]) {
      const again = throughSlim(state, config);
      expect(again).toMatchObject({ status: 'stopped', stopReason: 'guard', pause: null });
      expect(again.unfinishedStep).toBeNull();
      expect(again.pendingApprovals).toEqual([]);
      expect(again.messages.pairingProblem()).toBeNull();
      const [ran, waited] = again.messages.slice(-2);
      expect(ran?.content).toContain('hits');
      expect(waited?.content).toBe(
        'Not finished: aborted, because this state was stored in a shortened form.',
      );
      expect(again.execution).toEqual({ ...state.execution, stretchSeconds: null });
      expect(again.info).toEqual(state.info);
      expect(again.lastContinuationOutcome?.explain()).toContain('not_resumable');
    }
  });

  it('rejects resume with the missing data, and accepts a new message', async () => {
    const state = await paused();
    const again = throughSlim(state, minimal());
    const agent = agentFor('Which lead?');
    await expect(agent.resume(again)).rejects.toMatchObject({
      code: 'not_resumable',
      message:
        'This execution is stopped (SlimAgentStateSerializer: not_resumable: the slim form left out ' +
        'the arguments of search, danger; the current step), and no grant can reopen it. ' +
        'Send a new message: run(state.withUserMessage(...)).',
    });
    await expect(agent.resume(again, { grant: { steps: 5 } })).rejects.toMatchObject({
      code: 'not_resumable',
    });
    await expect(
      agent.resume(again, { approvals: answersTo(state, 'approve') }),
    ).rejects.toMatchObject({ code: 'not_resumable' });
    const after = await agent.run(again.withUserMessage('Delete lead 7 after all.'));
    expect(after.status).toBe('completed');
    expect(after.info.usage.total).toBe(state.info.usage.total + 15);
  });

  it('ends if a nested agent has missing data', async () => {
    const state = await agentFor(ScenarioStep.toolCall('delegate', { input: 'help' })).run('go');
    const slim = new SlimAgentStateSerializer({ maxContentLength: 3 }).serialize(state);
    expect(slim.truncated?.missing).toContain(
      'the rest of 1 shortened text (of the agent in call_1)',
    );
    const again = new SlimAgentStateSerializer().deserialize(slim);
    expect(again.status).toBe('stopped');
    expect(again.messages.pairingProblem()).toBeNull();
  });

  it('does not resume a document that another program truncated', async () => {
    const slim = new SlimAgentStateSerializer().serialize(await paused());
    const { rest: _, ...listed } = slim;
    for (const document of [
      { ...slim, current_step: null },
      listed,
      { ...slim, messages: slim.messages.slice(0, 1) },
    ]) {
      const again = new SlimAgentStateSerializer().deserialize(document);
      expect(again.status).toBe('stopped');
      expect(again.messages.pairingProblem()).toBeNull();
      const after = await agentFor('hello').run(again.withUserMessage('hi'));
      expect(after.status).toBe('completed');
    }
  });
});

describe('an ended execution', () => {
  const stopped = (): Promise<AgentState> =>
    AgentBuilder.base()
      .withName('clerk')
      .withMaxSteps(2)
      .withTools(mockTool('search', 'found'))
      .withDriver(
        DeterministicDriver.fromSteps(
          ScenarioStep.toolCall('search', { query: 'a' }),
          ScenarioStep.toolCall('search', { query: 'b' }),
        ),
      )
      .build()
      .run('go');

  it('can be reopened with a grant if no data is missing', async () => {
    const again = throughSlim(await stopped());
    expect(again.stopReason).toBe('steps_limit');
    const agent = AgentBuilder.base()
      .withName('clerk')
      .withMaxSteps(2)
      .withDriver(DeterministicDriver.fromResponses('done'))
      .build();
    const after = await agent.resume(again, { grant: { steps: 1 } });
    expect(after).toMatchObject({ status: 'completed', stepCount: 3 });
    expect(after.execution.grants).toEqual({ steps: 1 });
    const stored = throughSlim(after, minimal());
    expect(stored.execution).toMatchObject({ grants: { steps: 1 }, handledStep: 2 });
  });

  it('keeps its outcome without a grant if data is missing', async () => {
    const state = await stopped();
    const again = throughSlim(state, minimal());
    expect(again).toMatchObject({ status: 'stopped', stopReason: 'steps_limit' });
    expect(again.lastContinuationOutcome?.resolvedBy).toBe('StepsLimit');
    expect(again.lastContinuationOutcome?.decisive?.remedy).toEqual({
      text:
        'send a new message; to resume, store state.toJSON() or a slim form that keeps ' +
        'the arguments of search; the current step.',
    });
    await expect(agentFor().resume(again, { grant: { steps: 1 } })).rejects.toMatchObject({
      code: 'not_resumable',
    });
    const after = await agentFor('hello').run(again.withUserMessage('hi'));
    expect(after.status).toBe('completed');
  });

  it('keeps a new message that has not run', async () => {
    const state = AgentState.empty().withUserMessage('hello?');
    const after = await agentFor('hi').run(throughSlim(state, minimal()));
    expect(after.outputText).toBe('hi');
  });
});
