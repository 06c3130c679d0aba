import {
  AgentBuilder,
  AgentError,
  createAgent,
  defineTool,
  ErrorPolicy,
  logEvents,
  modelCallFailed,
  SlimAgentStateSerializer,
  SlimSerializationConfig,
  type AgentState,
  type Hook,
  type InferenceDriver,
  type RunOptions,
} from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { byKey, byLook, leakIn, ours, planted, redactor, words } from './setup/canary.ts';

const boom = (): Error => new Error(words);

/** Everything that leaves a run, as text. */
class Outlets {
  readonly texts: Record<string, string> = {};
  readonly #events: string[] = [];
  readonly #log: string[] = [];
  readonly #console = vi.spyOn(console, 'error').mockImplementation(() => {});

  options(): RunOptions {
    const write = (fields: object, message: string): void => {
      this.#log.push(message, JSON.stringify(fields));
    };
    const log = logEvents(
      { debug: write, info: write, warn: write, error: write },
      { deltas: true },
    );
    return {
      wiretap: (event) => {
        this.#events.push(JSON.stringify(event));
        log(event);
      },
    };
  }

  collect(state: AgentState): void {
    const presets = ['minimal', 'standard', 'full'] as const;
    const steps = [...state.steps];
    const outcomes = [...steps.map((step) => step.outcome), state.lastContinuationOutcome];
    Object.assign(this.texts, {
      events: this.#events.join('\n'),
      log: this.#log.join('\n'),
      console: JSON.stringify(this.#console.mock.calls),
      errors: JSON.stringify(steps.flatMap(({ errors }) => errors)),
      explain: outcomes.map((outcome) => outcome?.explain()).join('\n'),
      verdicts: JSON.stringify(outcomes),
      ...Object.fromEntries(
        presets.map((preset) => {
          const slim = new SlimAgentStateSerializer(SlimSerializationConfig[preset](), {
            redactor,
          });
          return [`slim ${preset}`, JSON.stringify(slim.serialize(state))];
        }),
      ),
    });
  }

  leaks(): string[] {
    return Object.entries(this.texts).flatMap(([outlet, text]) => {
      const leak = leakIn(text);
      return leak === null ? [] : [`${outlet}: ${leak}`];
    });
  }
}

let outlets: Outlets;
beforeEach(() => {
  vi.restoreAllMocks();
  outlets = new Outlets();
});

const builder = (driver: InferenceDriver) =>
  AgentBuilder.base()
    .withDriver(driver)
    .withRedactor(redactor)
    .withErrorPolicy(
      ErrorPolicy.retryAll().withMaxRetries(1).withBackoff({ initialMs: 1, maxMs: 1 }),
    );

const callsTool = () =>
  DeterministicDriver.fromSteps(ScenarioStep.toolCall('vault', planted), ScenarioStep.final('Ok.'));

describe('D43: no outlet shows a secret that was in', () => {
  it('tool arguments, which the resumable state keeps as they are', async () => {
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

  it('arguments that do not fit the schema', async () => {
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
    ['cut off', `{"password": "${byKey}", "note": "${byLook}`],
    ['without quotes', `{"password": ${byLook}}`],
    ['no object', JSON.stringify(byLook)],
    ['a list', JSON.stringify([byLook])],
    ['no JSON', `vault(${byLook})`],
  ])('arguments that cannot be read: %s', async (_how, argsRaw) => {
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

  it('errors that a tool throws', async () => {
    const agent = builder(callsTool()).withTools(mockTool('vault', boom())).build();
    const state = await agent.run('go', outlets.options());
    outlets.collect(state);
    expect(outlets.leaks()).toEqual([]);
    expect(outlets.texts['errors']).toContain('tool_failed');
    expect(leakIn(state.messages.at(-2)!.text)).toBeNull();
  });

  it.each<[string, () => unknown]>([
    ['an Error', boom],
    ['a record', () => modelCallFailed({ type: 'model', code: 'auth', message: words })],
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
    delete outlets.texts['events']; // what the model says to a person is shown as it was said
    delete outlets.texts['log'];
    expect(outlets.leaks()).toEqual([]);
    expect(outlets.texts['errors']).toContain('response_format_mismatch');
  });

  it('metadata of the state, which tools still get', async () => {
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
  ])('hooks that fail: %s', async (_point, hook) => {
    const agent = builder(callsTool())
      .withTools(mockTool('vault', 'ok'))
      .withHooks({ name: 'guard', ...hook })
      .build();
    outlets.collect(await agent.run('go', outlets.options()));
    expect(outlets.leaks()).toEqual([]);
    expect(JSON.stringify(outlets.texts)).toContain('[redacted]');
  });

  it.each(['ordinary', 'limit'])('criteria that throw or answer nonsense: %s', async (kind) => {
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
  });

  it('a pause for approval: asked for without secrets, kept with them', async () => {
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

  it('reasons given for a denial, a stop, a pause or an abort', async () => {
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

  it('nested agents: the redactor of the root holds for them too', async () => {
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

  it('listeners that fail', async () => {
    const agent = createAgent({ driver: DeterministicDriver.fromResponses('Ok.') });
    agent.wiretap(() => {
      throw new Error(`broadcast failed: Authorization: Bearer ${byLook}`);
    });
    outlets.collect(await agent.run('go', outlets.options()));
    expect(outlets.leaks()).toEqual([]);
    expect(outlets.texts['console']).toContain('broadcast failed');
  });
});

describe('D43: thrown errors', () => {
  const thrownBy = async (work: () => unknown): Promise<AgentError> => {
    try {
      await work();
    } catch (error) {
      if (AgentError.is(error)) return error;
    }
    throw new Error('nothing was thrown');
  };
  const paused = () =>
    createAgent({
      driver: callsTool(),
      tools: [
        mockTool('vault', 'ok', {
          needsApproval: true,
          parameters: { type: 'object', properties: { note: { type: 'string' } } },
        }),
      ],
    });

  it.each<[string, () => unknown]>([
    ['a key where a model was meant', () => AgentBuilder.base().withModel(byLook).build()],
    ['a key where a tool was meant', () => AgentBuilder.base().withTools(byLook as never)],
    ['a key in the place of a name', () => defineTool({ name: byLook } as never)],
    ['a key as a tool choice', () => AgentBuilder.base().withToolChoice(byLook as never)],
    [
      'an answer to an approval that is none',
      async () => {
        const agent = paused();
        const state = await agent.run('go');
        await agent.resume(state, { approvals: { call_1: byLook as never } });
      },
    ],
    [
      'edited arguments that do not fit',
      async () => {
        const agent = paused();
        const state = await agent.run('go');
        const args = { note: { password: byKey, apiKey: byLook } };
        await agent.resume(state, { approvals: { call_1: { approve: true, args } } });
      },
    ],
    [
      'a state document that is none',
      async () => createAgent({ driver: callsTool() }).run({ version: byLook } as never),
    ],
    [
      'a driver asked directly',
      () => {
        throw modelCallFailed({ type: 'model', code: 'auth', message: words });
      },
    ],
  ])('%s', async (_what, work) => {
    const builtToo = () => {
      const made = work();
      return made instanceof AgentBuilder
        ? made.withDriver(DeterministicDriver.fromResponses()).build()
        : made;
    };
    const { message, details, stack, cause } = await thrownBy(builtToo);
    const texts = { message, details: JSON.stringify(details), stack, cause: String(cause) };
    for (const [part, text] of Object.entries(texts)) {
      const leak = text?.includes(byLook) || text?.includes(byKey) ? leakIn(text) : null;
      expect({ part, leak }).toEqual({ part, leak: null });
    }
  });
});

it('D43: a secret that the model says is in no chunk, however it is cut, and the text is kept as it was', async () => {
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
