import {
  ErrorPolicy,
  pairingProblem,
  responseContentCheck,
  toolCalledCheck,
  type ContinuationCriterion,
} from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { base } from './setup/continuation.ts';
import { pages } from './setup/scripts.ts';

const { toolCall, final } = ScenarioStep;

describe('criteria of one’s own', () => {
  const insists: ContinuationCriterion = {
    name: 'NeverHappy',
    evaluate: () => ({ decision: 'request', reason: 'check the numbers once more' }),
  };

  it('one that always requests is still bounded by StepsLimit', async () => {
    const { builder, driver } = base([final('a'), final('b'), final('c')]);
    const state = await builder.withMaxSteps(3).addContinuationCriteria(insists).build().run('go');
    expect(driver.requests.length).toBe(3);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'steps_limit', output: 'c' });
    expect(state.lastContinuationOutcome?.evaluationFor('NeverHappy')?.decision).toBe('request');
  });

  it('after an answer without calls its reason is said to the model, as a synthetic user message', async () => {
    const { builder } = base([final('a'), final('b')]);
    const state = await builder.withMaxSteps(2).addContinuationCriteria(insists).build().run('go');
    expect(state.messages.toJSON().map((m) => [m.role, m.content, m.metadata])).toEqual([
      ['user', 'go', {}],
      ['assistant', 'a', {}],
      ['user', 'check the numbers once more', { synthetic: true }],
      ['assistant', 'b', {}],
    ]);
  });

  it('adds no message after tool calls: the model continues with the results', async () => {
    const { builder } = base([...pages(1), final('b')]);
    const state = await builder.withMaxSteps(2).addContinuationCriteria(insists).build().run('go');
    expect(state.messages.toJSON().map((m) => m.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
  });

  it('D15: keep going until a certain tool was called, then be completed', async () => {
    const createLead = mockTool('create_lead', [new Error('name missing'), { id: 7 }]);
    const { builder } = base(
      [
        final('Shall I create it?'),
        toolCall('create_lead', {}),
        toolCall('create_lead', { name: 'Acme' }, 'Creating the lead.'),
      ],
      [createLead],
    );
    const state = await builder
      .withErrorPolicy(ErrorPolicy.retryToolErrors(3))
      .addContinuationCriteria(toolCalledCheck('create_lead'))
      .build()
      .run('Create a lead for Acme.');
    expect(state).toMatchObject({
      status: 'completed',
      stopReason: 'completed',
      outputText: 'Creating the lead.',
    });
    expect(state.lastContinuationOutcome?.resolvedBy).toBe('ToolCalledCheck');
    expect(state.messages.at(2)).toMatchObject({
      role: 'user',
      content: 'the tool create_lead has not been called successfully yet',
      metadata: { synthetic: true },
    });
    expect(createLead.calls.length).toBe(2);
  });

  it('D15: the next execution starts from nothing', async () => {
    const { builder } = base(
      [toolCall('create_lead'), final('later'), toolCall('create_lead')],
      [mockTool('create_lead')],
    );
    const agent = builder.addContinuationCriteria(toolCalledCheck('create_lead')).build();
    const first = await agent.run('one');
    const second = await agent.run(first.withUserMessage('two'));
    expect(second.stepCount).toBe(2);
    expect(second.stopReason).toBe('completed');
  });

  it('ResponseContentCheck asks for more until the text is good', async () => {
    const { builder } = base([final('TODO: sources'), final('With sources.')]);
    const state = await builder
      .addContinuationCriteria(responseContentCheck((text) => text.includes('TODO')))
      .build()
      .run('go');
    expect(state).toMatchObject({ stopReason: 'completed', output: 'With sources.' });
    expect(state.messages.at(2)).toMatchObject({
      content: 'the response asks for more work',
      metadata: { synthetic: true },
    });
  });

  it.each<[string, () => never]>([
    [
      'throws',
      () => {
        throw new Error('no connection');
      },
    ],
    ['returns a promise', (async () => 'allow') as never],
    ['returns nonsense', (() => 42) as never],
  ])('one that %s ends the run as failed, and everything is kept', async (_how, evaluate) => {
    let asked = 0;
    const { builder } = base(pages(1));
    const state = await builder
      .addContinuationCriteria(
        { name: 'Fragile', evaluate: (s) => (s.stepCount === 0 ? 'allow' : evaluate()) },
        {
          name: 'After',
          evaluate: () => {
            asked += 1;
            return 'allow';
          },
        },
      )
      .build()
      .run('go');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error', stepCount: 1 });
    expect(state.lastContinuationOutcome).toMatchObject({ resolvedBy: 'Fragile' });
    expect(state.lastContinuationOutcome?.evaluationFor('After')?.decision).toBe('allow');
    expect(asked).toBe(2);
    expect(pairingProblem(state.messages)).toBeNull();
  });

  it('one that forbids without a reason of its own is a guard', async () => {
    const { builder } = base(pages(1));
    const state = await builder
      .addContinuationCriteria({
        name: 'OfficeHours',
        evaluate: (s) => (s.stepCount > 0 ? 'forbid' : 'allow'),
      })
      .build()
      .run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'guard' });
    expect(state.lastContinuationOutcome?.decisive?.reason).toBe(
      'OfficeHours forbade continuation',
    );
  });

  it('one that forbids before the first step: nothing is sent, and the run says why', async () => {
    const { builder, driver } = base([]);
    const state = await builder
      .addContinuationCriteria({
        name: 'Closed',
        evaluate: () => ({ decision: 'forbid', reason: 'the shop is closed', stopReason: 'guard' }),
      })
      .build()
      .run('go');
    expect(driver.requests.length).toBe(0);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'guard', stepCount: 0 });
  });
});
