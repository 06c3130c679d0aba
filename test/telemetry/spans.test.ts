import {
  AgentBuilder,
  AgentState,
  createAgent,
  defineTool,
  ErrorPolicy,
  type AgentState as State,
} from 'onward';
import { guardInput, guardTools } from 'onward/capabilities';
import { telemetry } from 'onward/telemetry';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { fails, scripted, withModels } from '../setup/fallback.ts';
import { named, observedHere, treeOf } from '../setup/otlp.ts';
import { expectSpansOf } from '../setup/span-counts.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

const base = (...script: readonly (ScenarioStep | string)[]) =>
  AgentBuilder.base()
    .withName('shop')
    .withDriver(
      DeterministicDriver.create(
        script.map((step) => (typeof step === 'string' ? final(step) : step)),
        { name: 'openai:gpt-5' },
      ),
    )
    .withCapability(telemetry());

const look = mockTool('look', 'seen');

describe('D86: spans of one run', () => {
  it('a step with a tool and an answer', async () => {
    const otlp = await observedHere();
    const state = await base(toolCall('look'), 'done').withTools(look).build().run('go');
    const spans = await otlp.spans();
    expect(treeOf(spans)).toEqual([
      'invoke_agent shop',
      '  chat gpt-5',
      '  execute_tool look',
      '  chat gpt-5',
    ]);
    expectSpansOf(spans, state);
    const [run] = named(spans, 'invoke_agent');
    const [chat] = named(spans, 'chat');
    const [tool] = named(spans, 'execute_tool');
    expect(run).toMatchObject({
      kind: 1,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'shop',
        'gen_ai.agent.id': state.agentId,
        'gen_ai.conversation.id': state.agentId,
        'gen_ai.provider.name': 'openai',
        'onward.execution.id': state.execution.id,
        'onward.status': 'completed',
        'onward.stop_reason': 'completed',
        'onward.decision': 'stop',
        'onward.steps': 2,
        'onward.resumed': false,
      },
      events: [
        { name: 'onward.step', attributes: { 'onward.step': 1, 'onward.continues': true } },
        { name: 'onward.step', attributes: { 'onward.step': 2, 'onward.continues': false } },
      ],
    });
    expect(chat).toMatchObject({
      kind: 3,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'gpt-5',
        'gen_ai.response.finish_reasons': ['tool_calls'],
        'gen_ai.output.type': 'text',
        'onward.step': 1,
        'onward.attempt': 1,
      },
    });
    expect(tool).toMatchObject({
      kind: 1,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'look',
        'gen_ai.tool.call.id': 'call_1',
        'gen_ai.tool.type': 'function',
        'onward.tool.outcome': 'ok',
      },
    });
  });

  it('calls that run side by side, one of which fails', async () => {
    const otlp = await observedHere();
    const state = await base(
      toolCalls([{ name: 'look' }, { name: 'bad' }, { name: 'look' }]),
      'done',
    )
      .withTools(
        look,
        mockTool('bad', () => {
          throw new Error('the disk of CANARY is full');
        }),
      )
      .withErrorPolicy(ErrorPolicy.production())
      .build()
      .run('go');
    const spans = await otlp.spans();
    expect(treeOf(spans)).toEqual([
      'invoke_agent shop',
      '  chat gpt-5',
      '  execute_tool look',
      '  execute_tool bad !tool_failed',
      '  execute_tool look',
      '  chat gpt-5',
    ]);
    expectSpansOf(spans, state);
    expect(otlp.text()).not.toContain('CANARY');
  });

  it('retries of a model', async () => {
    const otlp = await observedHere();
    const state = await base(
      ScenarioStep.error({ type: 'model', code: 'server', message: 'x', retryable: true }),
      'done',
    )
      .withErrorPolicy(ErrorPolicy.production())
      .build()
      .run('go');
    const spans = await otlp.spans();
    expect(treeOf(spans)).toEqual(['invoke_agent shop', '  chat gpt-5 !server', '  chat gpt-5']);
    expectSpansOf(spans, state);
    expect(named(spans, 'chat').map(({ attributes }) => attributes['onward.attempt'])).toEqual([
      1, 2,
    ]);
    expect(await otlp.points()).toContainEqual({
      metric: 'onward.retries',
      unit: '{retry}',
      attributes: {
        'gen_ai.agent.name': 'shop',
        'error.type': 'server',
        'onward.handling': 'retry',
      },
      value: 1,
      count: 1,
    });
  });

  it('a fallback', async () => {
    const otlp = await observedHere();
    const models = scripted([[fails('notFound')], ['done']]);
    const state = await withModels(models).withCapability(telemetry()).build().run('go');
    const spans = await otlp.spans();
    expect(treeOf(spans)).toEqual([
      'invoke_agent agent',
      '  chat gpt-5 !not_found',
      '  chat claude',
    ]);
    expectSpansOf(spans, state);
    const [run] = named(spans, 'invoke_agent');
    const chats = named(spans, 'chat');
    expect(run?.events[0]?.attributes['onward.fallback.model']).toBe('anthropic:claude');
    expect(chats.map(({ attributes }) => attributes['gen_ai.provider.name'])).toEqual([
      'openai',
      'anthropic',
    ]);
  });

  it('agents behind tools, without telemetry of their own', async () => {
    const otlp = await observedHere();
    const clerk = AgentBuilder.base()
      .withName('clerk')
      .withDriver(DeterministicDriver.fromSteps(toolCall('look'), final('asked')))
      .withTools(look)
      .build();
    const states: State[] = [];
    const state = await base(toolCall('ask', { input: 'What?' }), 'done')
      .withTools(clerk.asTool({ name: 'ask', description: 'Asks.' }))
      .build()
      .run('go');
    states.push(state);
    const spans = await otlp.spans();
    expect(treeOf(spans)).toEqual([
      'invoke_agent shop',
      '  chat gpt-5',
      '  execute_tool ask',
      '    invoke_agent clerk',
      '      chat deterministic',
      '      execute_tool look',
      '      chat deterministic',
      '  chat gpt-5',
    ]);
    expectSpansOf(spans, state);
    const conversations = new Set(
      spans.map(({ attributes }) => attributes['gen_ai.conversation.id']),
    );
    expect([...conversations]).toEqual([state.agentId]);
  });

  it('calls that never ran: an unknown tool, bad arguments, one that a guard blocks', async () => {
    const otlp = await observedHere();
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ cents: z.number() }),
      execute: () => 'paid',
    });
    const state = await base(
      toolCalls([{ name: 'evil\u202e\n'.repeat(100) }, { name: 'pay', args: { cents: 'x' } }]),
      toolCall('pay', { cents: 9 }),
    )
      .withTools(pay)
      .withErrorPolicy(ErrorPolicy.production())
      .withCapability(
        guardTools({
          name: 'none',
          check: ({ calls }) => (calls[0]?.args['cents'] === 9 ? { block: 'no' } : undefined),
        }),
      )
      .build()
      .run('go');
    expect(state.stopReason).toBe('guard');
    const spans = await otlp.spans();
    expectSpansOf(spans, state);
    const tools = named(spans, 'execute_tool');
    expect(tools.map(({ attributes }) => attributes['error.type'])).toEqual([
      'unknown_tool',
      'bad_arguments',
      'blocked',
    ]);
    for (const { name, attributes } of tools) {
      expect(attributes['onward.tool.executed']).toBe(false);
      expect(name.length).toBeLessThan(1_500);
      expect(name).not.toMatch(/[\n\u202e]/);
    }
    // names that a model made up would make a metric grow without bound
    const labels = (await otlp.points()).map(({ attributes }) => attributes['gen_ai.tool.name']);
    expect(labels.filter(Boolean)).toEqual([]);
  });

  it('a message that a guard blocks before the model is called', async () => {
    const otlp = await observedHere();
    const state = await base('never')
      .withCapability(
        guardInput({
          name: 'no',
          parallel: false,
          check: () => ({ block: 'no', message: 'Not this.' }),
        }),
      )
      .build()
      .run('CANARY');
    const spans = await otlp.spans();
    expect(treeOf(spans)).toEqual(['invoke_agent shop']);
    expectSpansOf(spans, state, { silent: 1 });
    expect(spans[0]?.attributes).toMatchObject({
      'onward.stop_reason': 'guard',
    });
  });

  it('a hook that calls the model twice has two spans in one step', async () => {
    const otlp = await observedHere();
    const state = await base('first', 'second')
      .withHooks({
        name: 'twice',
        aroundModelCall: async (request, next) => {
          await next(request);
          return next(request);
        },
      })
      .build()
      .run('go');
    const spans = await otlp.spans();
    expect(treeOf(spans)).toEqual(['invoke_agent shop', '  chat gpt-5', '  chat gpt-5']);
    expectSpansOf(spans, state);
  });

  it('an answer that does not fit its format', async () => {
    const otlp = await observedHere();
    const state = await base('no json', '{"total":3}')
      .withResponseFormat(z.object({ total: z.number() }))
      .withErrorPolicy(ErrorPolicy.production())
      .build()
      .run('go');
    expect(state.status).toBe('completed');
    const spans = await otlp.spans();
    expect(treeOf(spans)).toEqual(['invoke_agent shop', '  chat gpt-5', '  chat gpt-5']);
    expectSpansOf(spans, state);
    expect(named(spans, 'chat')[0]?.attributes['gen_ai.output.type']).toBe('json');
  });

  it('a run that fails, and one that its caller stops in mid answer', async () => {
    const otlp = await observedHere();
    const failed = await base(
      ScenarioStep.error({ type: 'model', code: 'auth', message: 'wrong key', retryable: false }),
    )
      .build()
      .run('go');
    const stop = new AbortController();
    const slow = {
      name: 'slow:model',
      infer: () => {
        queueMicrotask(() => stop.abort('enough'));
        return new Promise<never>(() => {});
      },
    };
    const stopped = await createAgent({ name: 's', driver: slow, capabilities: [telemetry()] }).run(
      'go',
      { signal: stop.signal },
    );
    const spans = await otlp.spans();
    expect(treeOf(spans)).toEqual([
      'invoke_agent shop !auth',
      '  chat gpt-5 !auth',
      'invoke_agent s',
      '  chat model',
    ]);
    expectSpansOf(spans, failed);
    expectSpansOf(spans, stopped);
    expect(named(spans, 'chat model')[0]?.attributes).toMatchObject({
      'onward.cancelled_by': 'user',
    });
    const run = spans.find(({ name }) => name === 'invoke_agent s');
    expect(run?.attributes).toMatchObject({ 'onward.stop_reason': 'user_requested' });
    // what the caller said is content
    expect(otlp.text()).not.toContain('enough');
  });

  it('streams, and runs step by step', async () => {
    const otlp = await observedHere();
    const agent = base(
      toolCall('look'),
      'streamed',
      toolCall('look'),
      'by hand',
      toolCall('look'),
      'iterated',
    )
      .withTools(look)
      .build();
    const stream = agent.stream('go');
    let text = '';
    for await (const piece of stream.textStream) text += piece;
    expect(text).toBe('streamed');
    expectSpansOf(await otlp.spans(), await stream.state);
    let byHand = await agent.nextStep('go');
    while (agent.hasNextStep(byHand)) byHand = await agent.nextStep(byHand);
    const spans = await otlp.spans();
    expectSpansOf(spans, byHand);
    // each step by hand is a run, in the trace of the first one
    expect(treeOf(spans).slice(4)).toEqual([
      'invoke_agent shop',
      '  chat gpt-5',
      '  execute_tool look',
      '  invoke_agent shop',
      '    chat gpt-5',
    ]);
    let last = AgentState.empty();
    for await (const state of agent.iterate('go')) last = state;
    expectSpansOf(await otlp.spans(), last);
  });
});
