import { AgentBuilder, AgentState, defineTool, type ToolContext } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { takesAnotherTurn } from './setup/states.ts';
import { agentWith, tool } from './setup/tools.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('the tool context', () => {
  it('has state, metadata, deps and an idempotency key', async () => {
    const db = { query: () => 'row' };
    const seen: unknown[] = [];
    const look = tool('look', (_args, c) => {
      const { query } = (c.deps as { db: typeof db }).db;
      seen.push([c.executionId, c.callId, c.idempotencyKey, c.metadata, c.state.stepCount]);
      return query();
    });
    const driver = DeterministicDriver.fromSteps(toolCall('look'), toolCall('look'), final('done'));
    const state = await agentWith(driver, look)
      .build()
      .run(AgentState.empty().withMetadata({ tenant: 'acme' }).withUserMessage('go'), {
        executionId: 'exec-1',
        deps: { db },
      });
    expect(seen).toEqual([
      ['exec-1', 'call_1', 'exec-1:call_1', { tenant: 'acme' }, 0],
      ['exec-1', 'call_2', 'exec-1:call_2', { tenant: 'acme' }, 1],
    ]);
    expect(state.steps.at(0)!.results[0]?.value).toBe('row');
  });

  it('D27: has deps that are never serialized and are passed again on resume', async () => {
    const keys: string[] = [];
    const write = defineTool({
      name: 'write',
      description: 'Writes.',
      needsApproval: true,
      execute: (_args, { deps, idempotencyKey }: ToolContext<{ db: { save(): string } }>) => {
        keys.push(idempotencyKey);
        return deps.db.save();
      },
    });
    const driver = DeterministicDriver.fromSteps(toolCall('write'), final('done'));
    const agent = AgentBuilder.base().withDriver(driver).withTools(write).build();
    const first = { save: () => 'old connection', password: 'canary-in-deps' };
    const paused = await agent.run('go', { executionId: 'exec-1', deps: { db: first } });
    const json = JSON.stringify(paused);
    expect(json).not.toContain('deps');
    expect(json).not.toContain('canary-in-deps');
    const approvals = { call_1: { approve: true } } as const;
    const state = await agent.resume(JSON.parse(json) as never, {
      approvals,
      deps: { db: { save: () => 'new connection' } },
    });
    expect(state.steps.at(0)!.results[0]?.value).toBe('new connection');
    expect(keys).toEqual(['exec-1:call_1']);
  });

  it('D27: the type of metadata allows only JSON', () => {
    const state = AgentState.empty();
    // @ts-expect-error a function would be lost in JSON
    state.withMetadata({ db: () => 1 });
    expect(state.withMetadata({ tenant: 'acme', tags: ['a'] }).metadata).toEqual({
      tenant: 'acme',
      tags: ['a'],
    });
  });

  it('requestStop ends the run after the step as guard with its first reason', async () => {
    const neighbour = mockTool('neighbour', 'ran');
    const driver = DeterministicDriver.fromSteps(
      toolCalls([{ name: 'brake' }, { name: 'neighbour' }], 'Braking.'),
    );
    const brake = tool('brake', (_args, { requestStop }) => {
      requestStop('the budget of the customer is spent');
      requestStop('a second reason changes nothing');
      return 'braked';
    });
    const state = await agentWith(driver, brake, neighbour).build().run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'guard' });
    expect(state.lastContinuationOutcome?.decisive).toMatchObject({
      criterion: 'StopRequestCheck',
      reason: 'the budget of the customer is spent',
    });
    expect(state.steps.at(0)!.results.map(({ value }) => value)).toEqual(['braked', 'ran']);
    await takesAnotherTurn(state);
  });

  it('requestPause pauses after the step, and resume() continues', async () => {
    const driver = DeterministicDriver.fromSteps(toolCall('wait'), final('done'));
    const wait = tool('wait', (_args, { requestPause }) => {
      requestPause('wait for the night');
      return 'queued';
    });
    const agent = agentWith(driver, wait).build();
    const paused = await agent.run('go');
    expect(paused.status).toBe('paused');
    expect(paused.pause).toMatchObject({
      kind: 'requested',
      reason: 'wait for the night',
      pendingApprovals: [],
    });
    expect(paused.steps.length).toBe(1);
    expect(paused.messages.pairingProblem()).toBeNull();
    const state = await agent.resume(paused);
    expect(state.output).toBe('done');
    expect(state.steps.length).toBe(2);
    await takesAnotherTurn(state);
  });

  it('requestPause is ignored on a step that ends the run', async () => {
    const driver = DeterministicDriver.fromSteps(toolCall('wait'));
    const wait = tool('wait', (_args, { requestPause }) => requestPause('later'));
    const agent = agentWith(driver, wait).withMaxSteps(1).build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'steps_limit', pause: null });
    await takesAnotherTurn(state);
  });

  it('has a signal that aborts with the run', async () => {
    const controller = new AbortController();
    const states: boolean[] = [];
    const driver = DeterministicDriver.fromSteps(toolCall('work'));
    const work = tool('work', (_args, { signal }) => {
      states.push(signal.aborted);
      controller.abort();
      states.push(signal.aborted);
      return new Promise(() => {});
    });
    await agentWith(driver, work).build().run('go', { signal: controller.signal });
    expect(states).toEqual([false, true]);
  });
});
