import {
  ErrorPolicy,
  responseContentCheck,
  toolCalledCheck,
  type ContinuationCriterion,
} from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { base } from './setup/continuation.ts';
import { pages } from './setup/scripts.ts';

const { toolCall, final } = ScenarioStep;

describe('custom criteria', () => {
  const insists: ContinuationCriterion = {
    name: 'NeverHappy',
    evaluate: () => ({ decision: 'request', reason: 'check the numbers once more' }),
  };

  it('a criterion that always requests is bounded by StepsLimit', async () => {
    const { builder, driver } = base([final('a'), final('b'), final('c')]);
    const state = await builder.withMaxSteps(3).addContinuationCriteria(insists).build().run('go');
    expect(driver.requests.length).toBe(3);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'steps_limit', output: 'c' });
    expect(state.lastContinuationOutcome?.evaluationFor('NeverHappy')?.decision).toBe('request');
  });

  it('the reason of a request after an answer becomes a synthetic user message', async () => {
    const { builder } = base([final('a'), final('b')]);
    const state = await builder.withMaxSteps(2).addContinuationCriteria(insists).build().run('go');
    expect(state.messages.toJSON().map((m) => [m.role, m.content, m.metadata])).toEqual([
      ['user', 'go', {}],
      ['assistant', 'a', {}],
      ['user', 'check the numbers once more', { synthetic: true }],
      ['assistant', 'b', {}],
    ]);
  });

  it('a request after tool calls adds no message', async () => {
    const { builder } = base([...pages(1), final('b')]);
    const state = await builder.withMaxSteps(2).addContinuationCriteria(insists).build().run('go');
    expect(state.messages.toJSON().map((m) => m.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
  });

  it('D15: toolCalledCheck continues until the tool succeeds, then completes the run', async () => {
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

  it('D15: toolCalledCheck starts over in the next execution', async () => {
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

  it('responseContentCheck continues until the text passes', async () => {
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
    ['returns an invalid value', (() => 42) as never],
  ])('a criterion that %s fails the run and keeps its steps', async (_how, evaluate) => {
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
    expect(state.messages.pairingProblem()).toBeNull();
  });

  it('a criterion that forbids without a stop reason stops as guard', async () => {
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

  it('a criterion that forbids before the first step prevents any model call', async () => {
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
