import {
  AgentBuilder,
  createAgent,
  defineTool,
  ErrorPolicy,
  type AgentState,
  type Hook,
} from 'onward';
import { type InferenceDriver, modelCallFailed } from 'onward/drivers';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { byKey, byLook, leakIn, ours, planted, redactor, words } from './setup/canary.ts';
import { callsTool, Outlets } from './setup/outlets.ts';

const boom = (): Error => new Error(words);

let outlets: Outlets;

const builder = (driver: InferenceDriver) =>
  AgentBuilder.base()
    .withDriver(driver)
    .withRedactor(redactor)
    .withErrorPolicy(
      ErrorPolicy.retryAll().withMaxRetries(1).withBackoff({ initialMs: 1, maxMs: 1 }),
    );

beforeEach(() => {
  vi.restoreAllMocks();
  outlets = new Outlets();
});

describe('D43: no output shows a secret from', () => {
  it('tool arguments, which the resumable state keeps', async () => {
    const vault = mockTool('vault', 'ok');
    const agent = builder(callsTool()).withTools(vault).build();
    const state = await agent.run('go', outlets.options());
    outlets.collect(state);
    expect(outlets.leaks()).toEqual([]);
    expect(outlets.texts['events']).toContain('ToolCallDelta');
    expect(outlets.texts['events']).toContain('[redacted]');
    expect(vault.calls).toEqual([planted]);
    const full = JSON.parse(JSON.stringify(state)) as ReturnType<AgentState['toJSON']>;
    expect(full.steps[0]!.toolCalls[0]!.args).toEqual(planted);
    expect(full.messages[1]!.toolCalls[0]!.args).toEqual(planted);
  });

  it('arguments that do not match the schema', async () => {
    const strict = defineTool({
      name: 'vault',
      description: 'Takes a number.',
      parameters: {
        type: 'object',
        properties: { note: { type: 'number' }, password: { enum: ['a', 'b'] } },
        additionalProperties: false,
      },
      execute: () => 'ok',
    });
    const agent = builder(callsTool()).withTools(strict).build();
    outlets.collect(await agent.run('go', outlets.options()));
    expect(outlets.leaks()).toEqual([]);
    expect(outlets.texts['errors']).toContain('bad_arguments');
  });

  it.each([
    ['truncated', `{"password": "${byKey}", "note": "${byLook}`],
    ['without quotes', `{"password": ${byLook}}`],
    ['not an object', JSON.stringify(byLook)],
    ['an array', JSON.stringify([byLook])],
    ['not JSON', `vault(${byLook})`],
  ])('arguments that cannot be parsed: %s', async (_how, argsRaw) => {
    const agent = builder(
      DeterministicDriver.fromSteps(ScenarioStep.toolCalls([{ name: 'vault', argsRaw }]), 'Ok.'),
    )
      .withTools(mockTool('vault'))
      .build();
    outlets.collect(await agent.run('go', outlets.options()));
    expect(outlets.leaks()).toEqual([]);
    expect(outlets.texts['errors']).toContain('bad_arguments');
  });

  it('tool results', async () => {
    const agent = builder(callsTool())
      .withTools(mockTool('vault', { ...planted, text: words }))
      .build();
    outlets.collect(await agent.run('go', outlets.options()));
    expect(outlets.leaks()).toEqual([]);
  });

  it('errors thrown by a tool', async () => {
    const agent = builder(callsTool()).withTools(mockTool('vault', boom())).build();
    const state = await agent.run('go', outlets.options());
    outlets.collect(state);
    expect(outlets.leaks()).toEqual([]);
    expect(outlets.texts['errors']).toContain('tool_failed');
    expect(leakIn(state.messages.at(-2)!.text)).toBeNull();
  });

  it.each<[string, () => unknown]>([
    ['an Error', boom],
    ['a model error', () => modelCallFailed({ type: 'model', code: 'auth', message: words })],
    ['an object', () => ({ message: words, headers: { authorization: byKey } })],
    ['a string', () => words],
  ])('model errors: %s', async (_what, make) => {
    const agent = builder({ name: 'broken', infer: () => Promise.reject(make()) }).build();
    const state = await agent.run('go', outlets.options());
    outlets.collect(state);
    expect(outlets.leaks()).toEqual([]);
    expect(state.status).toBe('failed');
    expect(outlets.texts['explain']).toContain('401 for [redacted]');
  });

  it('a refusal', async () => {
    const driver = DeterministicDriver.fromSteps(ScenarioStep.final('', { refusal: words }));
    outlets.collect(await builder(driver).build().run('go', outlets.options()));
    expect(outlets.leaks()).toEqual([]);
  });

  it('an answer that does not match the response format', async () => {
    const driver = DeterministicDriver.fromSteps(`{"password": ${byLook}}`, '{"n": 1}');
    const agent = builder(driver)
      .withResponseFormat({ type: 'object', required: ['n'] })
      .build();
    const state = await agent.run('go', outlets.options());
    outlets.collect(state);
    delete outlets.texts['events']; // the answer itself is shown unredacted
    delete outlets.texts['log'];
    expect(outlets.leaks()).toEqual([]);
    expect(outlets.texts['errors']).toContain('response_format_mismatch');
  });

  it('state metadata, which tools still get', async () => {
    const vault = mockTool('vault', 'ok');
    const agent = builder(DeterministicDriver.fromSteps(ScenarioStep.toolCall('vault'), 'Ok.'))
      .withTools(vault)
      .build();
    const { AgentState } = await import('onward');
    const start = AgentState.empty().withMetadata(planted).withUserMessage('go');
    const state = await agent.run(start, outlets.options());
    outlets.collect(state);
    expect(outlets.leaks()).toEqual([]);
    expect(vault.contexts[0]!.metadata).toEqual(planted);
    expect(state.metadata).toEqual(planted);
  });

  const fail = async (): Promise<never> => {
    throw boom();
  };
  it.each<[string, Partial<Hook>]>([
    ['aroundExecution', { aroundExecution: fail }],
    ['aroundStep', { aroundStep: fail }],
    ['aroundModelCall', { aroundModelCall: fail }],
    ['aroundToolCall', { aroundToolCall: fail }],
    ['aroundToolCall, blocking', { aroundToolCall: async () => ({ blocked: words }) }],
  ])('hooks that throw or block: %s', async (_point, hook) => {
    const agent = builder(callsTool())
      .withTools(mockTool('vault', 'ok'))
      .withHooks({ name: 'guard', ...hook })
      .build();
    outlets.collect(await agent.run('go', outlets.options()));
    expect(outlets.leaks()).toEqual([]);
    expect(JSON.stringify(outlets.texts)).toContain('[redacted]');
  });

  it.each(['ordinary', 'limit'])(
    'criteria that throw or return an invalid value: %s',
    async (kind) => {
      const limit = kind === 'limit' ? ({ kind: 'limit' } as const) : {};
      const agent = builder(DeterministicDriver.fromResponses())
        .addContinuationCriteria(
          {
            name: 'Broken',
            ...limit,
            evaluate: () => {
              throw boom();
            },
          },
          { name: 'Odd', ...limit, evaluate: () => ({ said: words, ...planted }) as never },
        )
        .build();
      const state = await agent.run('go', outlets.options());
      outlets.collect(state);
      expect(outlets.leaks()).toEqual([]);
      expect(outlets.texts['explain']).toMatch(/Broken threw: 401 for \[redacted\]/);
      expect(state.status).toBe('failed');
    },
  );

  it('a pause for approval, while the state keeps the arguments', async () => {
    const vault = mockTool('vault', 'ok', { needsApproval: true });
    const agent = builder(callsTool()).withTools(vault).build();
    const paused = await agent.run('go', outlets.options());
    outlets.collect(paused);
    expect(outlets.leaks()).toEqual([]);
    expect(outlets.texts['events']).toMatch(/ToolApprovalRequested[\s\S]*AgentPaused/);
    expect(paused.pendingApprovals[0]!.args).toEqual(planted);
    await agent.resume(JSON.parse(JSON.stringify(paused)) as never, {
      approvals: { call_1: { approve: true } },
    });
    expect(vault.calls).toEqual([planted]);
  });

  it('reasons for a denial, a stop, a pause or an abort', async () => {
    const asks = (work: 'requestStop' | 'requestPause') =>
      mockTool('vault', (_args: unknown, context: Record<typeof work, (r: string) => void>) => {
        context[work](words);
        return 'ok';
      });
    const plain = () => DeterministicDriver.fromSteps(ScenarioStep.toolCall('vault'), 'Ok.');
    const gated = builder(plain())
      .withTools(mockTool('vault', 1, { needsApproval: true }))
      .build();
    const paused = await gated.run('go', outlets.options());
    const states = [
      await gated.resume(paused, {
        approvals: { call_1: { deny: words } },
        ...outlets.options(),
      }),
      gated.stop(paused, { reason: words, ...outlets.options() }),
      await builder(plain()).withTools(asks('requestStop')).build().run('go', outlets.options()),
      await builder(plain()).withTools(asks('requestPause')).build().run('go', outlets.options()),
      await builder(plain())
        .build()
        .run('go', { signal: AbortSignal.abort(words), ...outlets.options() }),
    ];
    expect(states.map(({ status }) => status)).toEqual([
      'completed',
      'stopped',
      'stopped',
      'paused',
      'stopped',
    ]);
    for (const state of states) {
      outlets.collect(state);
      expect(outlets.leaks()).toEqual([]);
    }
  });

  it('nested agents, which use the redactor of the root', async () => {
    const inner = AgentBuilder.base()
      .withName('inner')
      .withDriver(callsTool())
      .withTools(mockTool('vault', boom()))
      .build();
    const outer = builder(
      DeterministicDriver.fromSteps(ScenarioStep.toolCall('ask', { input: ours }), 'Ok.'),
    )
      .withTools(inner.asTool({ name: 'ask', description: 'Asks.' }))
      .build();
    const state = await outer.run('go', outlets.options());
    outlets.collect(state);
    expect(outlets.leaks()).toEqual([]);
    expect(outlets.texts['events']).toContain('"type":"AgentFailed"');
  });

  it('listeners that throw', async () => {
    const agent = createAgent({ driver: DeterministicDriver.fromResponses('Ok.') });
    agent.wiretap(() => {
      throw new Error(`broadcast failed: Authorization: Bearer ${byLook}`);
    });
    outlets.collect(await agent.run('go', outlets.options()));
    expect(outlets.leaks()).toEqual([]);
    expect(outlets.texts['console']).toContain('broadcast failed');
  });
});

it('D43: a secret in an answer is in no chunk, however it is split, and the state keeps the text', async () => {
  const secret = 'sk-live-4f9a2b7c8d1e6f3a5b9c0d2e';
  const pieces = ['The key is s', 'k-live-4f9a', '2b7c8d1e6f3a', '5b9c0d2e', ', keep it.'];
  const agent = AgentBuilder.base()
    .withModel(DeterministicDriver.fromSteps(ScenarioStep.stream(pieces)))
    .build();
  const chunks: string[] = [];
  agent.on('StreamChunk', ({ content }) => chunks.push(content));
  const state = await agent.run('Which key is it?');
  expect(chunks.join('')).toBe('The key is s[redacted], keep it.');
  expect(state.outputText).toContain(secret);
});
