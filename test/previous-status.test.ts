import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { builder, Received, quick } from './setup/message-events.ts';

const { toolCall, error } = ScenarioStep;

describe('previousStatus and outputText', () => {
  const starts = (received: Received) =>
    received.of('AgentStarted').map((e) => [e.resumed, e.previousStatus, e.stepCount]);

  it('a new run was pending, also after an ended run', async () => {
    const received = new Received();
    const agent = builder('One.', 'Two.').build();
    const first = await agent.run('a', received.options);
    await agent.run(first.withUserMessage('b'), received.options);
    expect(starts(received)).toEqual([
      [false, 'pending', 0],
      [false, 'pending', 0],
    ]);
    expect(received.of('AgentFinished').map((e) => e.outputText)).toEqual(['One.', 'Two.']);
  });

  it('a resume after an approval was paused, and repeats no message', async () => {
    const agent = builder(toolCall('pay', {}, 'I will pay.'), 'Paid.')
      .withTools(mockTool('pay', 'ok', { needsApproval: true }))
      .build();
    const first = new Received();
    const paused = await agent.run('Pay.', first.options);
    expect(first.reported).toEqual(['0 user: Pay.', '1 assistant: I will pay.']);
    const second = new Received();
    const approvals = { call_1: { approve: true } } as const;
    await agent.resume(paused.toJSON(), { approvals, ...second.options });
    expect(starts(second)).toEqual([[true, 'paused', 0]]);
    expect(second.reported).toEqual(['2 assistant: Paid.']);
  });

  it('a resume with a grant was stopped, and the stop carried the last text', async () => {
    const agent = builder(toolCall('stock', {}, 'One.'), toolCall('stock', {}, 'Two.'), 'Three.')
      .withTools(mockTool('stock', 7))
      .withMaxSteps(2)
      .build();
    const first = new Received();
    const stopped = await agent.run('go', first.options);
    expect(first.of('AgentFinished')).toMatchObject([
      { status: 'stopped', stopReason: 'steps_limit', outputText: 'Two.' },
    ]);
    const second = new Received();
    await agent.resume(stopped, { grant: { steps: 1 }, ...second.options });
    expect(starts(second)).toEqual([[true, 'stopped', 2]]);
    expect(second.reported).toEqual(['3 assistant: Three.']);
    expect(second.of('AgentFinished')).toMatchObject([{ outputText: 'Three.' }]);
  });

  it('a resume with granted retries was failed', async () => {
    const agent = builder(error('a'), error('b'), 'Done.')
      .withErrorPolicy(quick.withMaxRetries(1))
      .build();
    const first = new Received();
    const failed = await agent.run('go', first.options);
    expect(first.of('AgentFailed')).toMatchObject([{ stopReason: 'retry_limit', outputText: '' }]);
    const second = new Received();
    await agent.resume(failed, { grant: { retries: 1 }, ...second.options });
    expect(starts(second)).toEqual([[true, 'failed', 2]]);
    expect(second.reported).toEqual(['3 assistant: Done.']);
  });

  it('a resume of an interrupted run was in progress', async () => {
    const make = () => builder(toolCall('stock'), 'Done.').withTools(mockTool('stock', 7)).build();
    const agent = make();
    const left = await agent.nextStep('go');
    expect(left.status).toBe('in_progress');
    const received = new Received();
    await agent.resume(left.toJSON(), received.options);
    expect(starts(received)).toEqual([[true, 'in_progress', 1]]);
    expect(received.reported).toEqual(['2 assistant: Done.']);
  });

  it('a failed run carries the last text of its own run only', async () => {
    const agent = builder('Before.', toolCall('stock', {}, 'I look.'), error('broken'), error('x'))
      .withTools(mockTool('stock', 7))
      .build();
    const first = await agent.run('a');
    const second = new Received();
    const failed = await agent.run(first.withUserMessage('b'), second.options);
    expect(second.of('AgentFailed')).toMatchObject([{ outputText: 'I look.' }]);
    const third = new Received();
    await agent.run(failed.withUserMessage('c'), third.options);
    expect(third.of('AgentFailed')).toMatchObject([{ outputText: '' }]);
    expect(third.reported).toEqual(['0 user: c']);
  });
});
