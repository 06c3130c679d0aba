import { ErrorPolicy } from 'onward';
import { fakeClock } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { fails, requestsOf, scripted, story, withModels } from './setup/fallback.ts';

describe('the cool-down of a failed model', () => {
  it('skips the model in new executions for 60 seconds', async () => {
    const clock = fakeClock();
    const models = scripted([
      [fails('overloaded'), 'Back again.'],
      ['One.', 'Two.'],
    ]);
    const agent = withModels(models).withClock(clock).build();
    expect((await agent.run('hi')).output).toBe('One.');
    clock.jump(59_999);
    const skipped = await agent.run('hi');
    expect(story(skipped)).toEqual(['final anthropic:claude']);
    clock.jump(1);
    expect(story(await agent.run('hi'))).toEqual(['final openai:gpt-5']);
  });

  it('lasts as long as the provider asks for', async () => {
    const clock = fakeClock();
    const models = scripted([
      [fails('longOverload'), 'Back again.'],
      ['One.', 'Two.'],
    ]);
    const agent = withModels(models).withClock(clock).build();
    await agent.run('hi');
    clock.jump(299_999);
    expect((await agent.run('hi')).output).toBe('Two.');
    clock.jump(1);
    expect((await agent.run('hi')).output).toBe('Back again.');
  });

  it('applies to every agent that uses the same driver', async () => {
    const clock = fakeClock();
    const models = scripted([[fails('quota')], ['One.', 'Two.']]);
    const builder = withModels(models).withClock(clock);
    await builder.withName('first').build().run('hi');
    const state = await builder.withName('second').build().run('hi');
    expect(story(state)).toEqual(['final anthropic:claude']);
  });

  it('does not move an execution away from the model that answered in it', async () => {
    const clock = fakeClock();
    const models = scripted([[fails('server'), fails('server'), 'One.'], []]);
    const policy = ErrorPolicy.retryAll(2).withBackoff({ initialMs: 0 });
    const agent = withModels(models).withErrorPolicy(policy).withClock(clock).build();
    const state = await agent.run('hi');
    expect(story(state)).toEqual([
      'error openai:gpt-5',
      'error openai:gpt-5',
      'final openai:gpt-5',
    ]);
  });

  it('uses the model whose cool-down ends first if all are cooling down', async () => {
    const clock = fakeClock();
    const models = scripted([[fails('longOverload')], [fails('overloaded'), 'Hello.']]);
    const agent = withModels(models).withClock(clock).build();
    expect((await agent.run('hi')).status).toBe('failed');
    expect((await agent.run('hi')).output).toBe('Hello.');
    expect(requestsOf(models)).toEqual([1, 2]);
  });

  it('ends when the model answers', async () => {
    const clock = fakeClock();
    const models = scripted([[fails('overloaded'), 'One.', 'Two.'], [fails('longOverload')]]);
    const agent = withModels(models).withClock(clock).build();
    await agent.run('hi');
    expect((await agent.run('hi')).output).toBe('One.');
    expect((await agent.run('hi')).output).toBe('Two.');
  });

  it('tries a model in its cool-down before the run stops', async () => {
    const clock = fakeClock();
    const models = scripted([
      [fails('overloaded'), 'Hello.'],
      ['One.', fails('server')],
    ]);
    const agent = withModels(models).withClock(clock).build();
    await agent.run('hi');
    const state = await agent.run('hi');
    expect(story(state)).toEqual(['error anthropic:claude -> openai:gpt-5', 'final openai:gpt-5']);
  });
});
