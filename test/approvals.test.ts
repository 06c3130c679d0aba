import {
  AgentBuilder,
  AgentState,
  defineTool,
  ErrorPolicy,
  pairingProblem,
  type Agent,
  type AgentEvent,
  type ApprovalAnswer,
  type Approvals,
  type Tool,
} from 'onward';
import {
  DeterministicDriver,
  fakeClock,
  mockTool,
  ScenarioStep,
  type ScriptedCall,
} from 'onward/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { refusal } from './setup/sessions.ts';
import { stored, takesAnotherTurn } from './setup/states.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const approve = { approve: true } as const;
const deny = { deny: 'too expensive' } as const;

const gated = (name = 'pay', answer: unknown = 'paid') =>
  mockTool(name, answer, { needsApproval: true });

const agentWith = (steps: readonly ScenarioStep[], ...tools: readonly Tool[]): Agent =>
  AgentBuilder.base()
    .withDriver(DeterministicDriver.fromSteps(...steps))
    .withTools(...tools)
    .build();

const kinds = (state: AgentState, step = 0) =>
  state.steps.at(step)!.results.map(({ kind }) => kind);

describe('a call that needs approval', () => {
  it('pauses the run: nothing ran, the call is open, nobody judged', async () => {
    const pay = gated();
    const events: AgentEvent[] = [];
    const agent = agentWith([toolCall('pay', { amount: 5 }, 'I will pay.')], pay);
    const state = await agent.run('go', { wiretap: (e) => events.push(e) });
    expect(pay.calls).toEqual([]);
    expect(state.status).toBe('paused');
    expect(state.stopReason).toBeNull();
    expect(state.pause).toEqual({
      kind: 'approval',
      at: expect.any(String),
      pendingApprovals: [{ callId: 'call_1', tool: 'pay', args: { amount: 5 }, path: [] }],
    });
    expect(state.pendingApprovals).toBe(state.pause?.pendingApprovals);
    expect(state.currentStep).toMatchObject({ number: 1, outcome: null, results: [] });
    expect(state.steps.length).toBe(0);
    expect(state.usage.total).toBe(15);
    const types = events.map(({ type }) => type);
    expect(types.slice(-3)).toEqual(['ToolApprovalRequested', 'AgentStateUpdated', 'AgentPaused']);
    expect(types).not.toContain('ToolCallStarted');
    expect(types.filter((type) => type === 'ContinuationEvaluated')).toHaveLength(1);
  });

  it('approved runs, and the model sees the result', async () => {
    const pay = gated();
    const agent = agentWith([toolCall('pay', { amount: 5 }), final('done')], pay);
    const paused = await agent.run('go');
    const state = await agent.resume(paused, { approvals: { call_1: approve } });
    expect(pay.calls).toEqual([{ amount: 5 }]);
    expect(state).toMatchObject({ status: 'completed', output: 'done', pause: null });
    expect(kinds(state)).toEqual(['ok']);
    expect(state.execution.id).toBe(paused.execution.id);
    expect(state.usage.total).toBe(30);
    await takesAnotherTurn(state);
  });

  it('denied does not run, is no error, and the model sees why', async () => {
    const pay = gated();
    const agent = agentWith([toolCall('pay'), final('I did not pay.')], pay);
    const state = await agent.resume(await agent.run('go'), { approvals: { call_1: deny } });
    expect(pay.calls).toEqual([]);
    expect(state.steps.at(0)!.results[0]).toMatchObject({
      kind: 'denied',
      value: 'Denied by a person: too expensive',
    });
    expect(state.steps.at(0)!.errors).toEqual([]);
    expect(state).toMatchObject({ status: 'completed', output: 'I did not pay.' });
    expect(state.messages.withRole('tool')[0]?.text).toBe('Denied by a person: too expensive');
    await takesAnotherTurn(state);
  });

  it('an approved call that fails is judged like any other', async () => {
    const agent = agentWith([toolCall('pay')], gated('pay', new Error('card declined')));
    const state = await agent.resume(await agent.run('go'), { approvals: { call_1: approve } });
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
    expect(state.steps.at(0)!.errors).toMatchObject([{ type: 'tool', message: 'card declined' }]);
    await takesAnotherTurn(state);
  });

  it('bad arguments are answered at once: nobody is asked about them', async () => {
    const pay = mockTool('pay', 'paid', {
      needsApproval: true,
      parameters: z.object({ amount: z.number() }),
    });
    const agent = AgentBuilder.base()
      .withDriver(
        DeterministicDriver.fromSteps(toolCall('pay', { amount: 'five' }), final('sorry')),
      )
      .withTools(pay)
      .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
      .build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'completed', output: 'sorry' });
    expect(state.steps.at(0)!.errors).toMatchObject([{ code: 'bad_arguments' }]);
  });
});

describe('needsApproval as a rule', () => {
  it('is asked with the checked arguments, and only what it says waits', async () => {
    const asked: unknown[] = [];
    const pay = mockTool('pay', 'paid', {
      parameters: z.object({ amount: z.number().default(1) }),
      needsApproval: (args) => {
        asked.push(args);
        return (args as { amount: number }).amount > 100;
      },
    });
    const calls = [{ name: 'pay' }, { name: 'pay', args: { amount: 500 } }];
    const agent = agentWith([toolCalls(calls), final('done')], pay);
    const paused = await agent.run('go');
    expect(asked).toEqual([{ amount: 1 }, { amount: 500 }]);
    expect(pay.calls).toEqual([{ amount: 1 }]);
    expect(paused.pendingApprovals.map(({ callId }) => callId)).toEqual(['call_2']);
  });

  it.each(['run on', 'restarted'])('D29: is asked once per call (%s)', async (how) => {
    let asked = 0;
    const pay = mockTool('pay', 'paid', {
      needsApproval: async () => {
        asked += 1;
        if (asked > 2) throw new Error('asked again');
        return true;
      },
    });
    const agent = agentWith([toolCalls([{ name: 'pay' }, { name: 'pay' }]), final('done')], pay);
    const back = (state: AgentState) => (how === 'restarted' ? stored(state) : state);
    const paused = await agent.run('go');
    const idle = await agent.resume(back(paused));
    expect(idle.pendingApprovals).toEqual(paused.pendingApprovals);
    const half = await agent.resume(back(idle), { approvals: { call_2: approve } });
    const state = await agent.resume(back(half), { approvals: { call_1: approve } });
    expect(asked).toBe(2);
    expect(pay.calls).toHaveLength(2);
    expect(state.output).toBe('done');
  });

  it('that throws keeps the tool from running', async () => {
    const pay = mockTool('pay', 'paid', {
      needsApproval: () => {
        throw new Error('rule broke');
      },
    });
    const state = await agentWith([toolCall('pay')], pay).run('go');
    expect(pay.calls).toEqual([]);
    expect(state.steps.at(0)!.errors).toMatchObject([{ type: 'tool', message: 'rule broke' }]);
    await takesAnotherTurn(state);
  });
});

describe('D23: three approvals in one step', () => {
  const orders = [
    [1, 2, 3],
    [1, 3, 2],
    [2, 1, 3],
    [2, 3, 1],
    [3, 1, 2],
    [3, 2, 1],
  ];

  it.each(orders)('answered one by one in the order %i %i %i', async (...order) => {
    const free = mockTool('free', ['first', 'second']);
    const pay = gated('pay', (args: { n: number }) => `paid ${args.n}`);
    const calls: ScriptedCall[] = [
      { name: 'pay', args: { n: 1 }, id: 'p1' },
      { name: 'free', id: 'f1' },
      { name: 'pay', args: { n: 2 }, id: 'p2' },
      { name: 'pay', args: { n: 3 }, id: 'p3' },
      { name: 'free', id: 'f2' },
    ];
    const script = [toolCalls(calls), final('done')];
    let state = await agentWith(script, free, pay).run('go');
    expect(state.pendingApprovals.map(({ callId }) => callId)).toEqual(['p1', 'p2', 'p3']);
    expect(free.calls).toHaveLength(2);
    const answered: number[] = [];
    for (const n of order) {
      // every answer reaches a process of its own
      const agent = agentWith([final('done')], free, pay);
      state = await agent.resume(stored(state), { approvals: { [`p${n}`]: approve } });
      answered.push(n);
      expect(pay.calls).toEqual(answered.map((done) => ({ n: done })));
      const open = [1, 2, 3].filter((left) => !answered.includes(left));
      expect(state.pendingApprovals.map(({ callId }) => callId)).toEqual(open.map((o) => `p${o}`));
      expect(state.status).toBe(open.length > 0 ? 'paused' : 'completed');
    }
    expect(free.calls).toHaveLength(2);
    expect(state.output).toBe('done');
    expect(state.messages.withRole('tool').map((m) => [m.toolCallId, m.text])).toEqual([
      ['p1', 'paid 1'],
      ['f1', 'first'],
      ['p2', 'paid 2'],
      ['p3', 'paid 3'],
      ['f2', 'second'],
    ]);
    expect(state.messages.withRole('assistant')).toHaveLength(2);
    expect(state.execution).toMatchObject({ stepCount: 2, answeredSteps: 2 });
    await takesAnotherTurn(state);
  });

  it('partial answers run what was answered and pause again', async () => {
    const pay = gated();
    const events: AgentEvent[] = [];
    const calls = [{ name: 'pay' }, { name: 'pay' }, { name: 'pay' }];
    const agent = agentWith([toolCalls(calls), final('done')], pay);
    const wiretap = (e: AgentEvent) => void events.push(e);
    const paused = await agent.run('go', { wiretap });
    const half = await agent.resume(paused, {
      approvals: { call_1: approve, call_3: deny },
      wiretap,
    });
    expect(half.status).toBe('paused');
    expect(half.pendingApprovals.map(({ callId }) => callId)).toEqual(['call_2']);
    expect(half.currentStep?.results.map(({ callId, kind }) => [callId, kind])).toEqual([
      ['call_1', 'ok'],
      ['call_3', 'denied'],
    ]);
    expect(half.messages.withRole('tool')).toEqual([]);
    // each was asked for once
    const asked = events.flatMap((e) => (e.type === 'ToolApprovalRequested' ? [e.toolCallId] : []));
    expect(asked).toEqual(['call_1', 'call_2', 'call_3']);
    const state = await agent.resume(half, { approvals: { call_2: approve } });
    expect(kinds(state)).toEqual(['ok', 'ok', 'denied']);
    expect(pay.calls).toHaveLength(2);
    await takesAnotherTurn(state);
  });
});

describe('D25: any number of pauses', () => {
  it('five in one run, each in a process of its own', async () => {
    const pay = gated();
    let state = await agentWith([toolCalls([{ name: 'pay', id: 'p0' }])], pay).run('go');
    for (let n = 1; n <= 5; n++) {
      expect(state.status).toBe('paused');
      const script = n < 5 ? toolCalls([{ name: 'pay', id: `p${n}` }]) : final('done');
      const agent = agentWith([script], pay);
      state = await agent.resume(stored(state), { approvals: { [`p${n - 1}`]: approve } });
    }
    expect(state).toMatchObject({ status: 'completed', output: 'done', stepCount: 6 });
    expect(pay.calls).toHaveLength(5);
    expect(state.usage.total).toBe(90);
    await takesAnotherTurn(state);
  });
});

describe('an answer counts once', () => {
  it('D19: deny, finish, approve: refused, and nothing runs', async () => {
    const pay = gated();
    const agent = agentWith([toolCall('pay'), final('fine')], pay);
    const done = await agent.resume(await agent.run('go'), { approvals: { call_1: deny } });
    expect(done.status).toBe('completed');
    for (const state of [done, stored(done), done.withUserMessage('more')]) {
      const error = await refusal(() => agent.resume(state, { approvals: { call_1: approve } }));
      expect(error.code).toBe('not_resumable');
      expect(error.message).toContain('call_1 comes too late: nothing was run');
    }
    expect(pay.calls).toEqual([]);
  });

  it('D34: a second approval of the same call is refused', async () => {
    const pay = gated();
    const agent = agentWith([toolCalls([{ name: 'pay' }, { name: 'pay' }]), final('done')], pay);
    const half = await agent.resume(await agent.run('go'), { approvals: { call_1: approve } });
    const error = await refusal(() => agent.resume(half, { approvals: { call_1: approve } }));
    expect(error.code).toBe('unknown_approval');
    expect(error.message).toBe(
      'Call call_1 was answered before; each call is answered once. Waiting: call_2.',
    );
    expect(error.details).toEqual({ callId: 'call_1', pending: ['call_2'] });
    expect(pay.calls).toHaveLength(1);
    expect(half.status).toBe('paused');
  });

  it('D34: an approved call is not gated again, and an old answer does not serve a new call', async () => {
    const pay = gated();
    const again = { name: 'pay', id: 'same', args: { amount: 1 } };
    const agent = agentWith([toolCalls([again]), toolCalls([again]), final('done')], pay);
    const first = await agent.run('go');
    const second = await agent.resume(first, { approvals: { same: approve } });
    expect(pay.calls).toHaveLength(1);
    expect(second.status).toBe('paused');
    const [pending] = second.pendingApprovals;
    expect(pending?.callId).not.toBe('same');
    const error = await refusal(() => agent.resume(second, { approvals: { same: approve } }));
    expect(error.code).toBe('unknown_approval');
    expect(pay.calls).toHaveLength(1);
  });

  it.each<[string, Approvals, string, RegExp]>([
    ['an unknown call', { nope: approve }, 'unknown_approval', /nope is not waiting.*call_1/],
    ['a known and an unknown call', { call_1: approve, nope: deny }, 'unknown_approval', /nope/],
    ['nothing', { call_1: null as never }, 'invalid_approval', /is null, expected \{ approve/],
    ['a bare yes', { call_1: true as never }, 'invalid_approval', /is true, expected/],
    ['approve: false', { call_1: { approve: false } as never }, 'invalid_approval', /with approve/],
    [
      'both',
      { call_1: { approve: true, deny: 'no' } as never },
      'invalid_approval',
      /approve, deny/,
    ],
    ['a denial without words', { call_1: { deny: true } as never }, 'invalid_approval', /deny/],
    [
      'arguments that are no object',
      { call_1: { approve: true, args: [] as never } },
      'invalid_approval',
      /approve, args/,
    ],
  ])('%s is refused, and the call still waits', async (_case, approvals, code, message) => {
    const pay = gated();
    const agent = agentWith([toolCall('pay'), final('done')], pay);
    const paused = await agent.run('go');
    const error = await refusal(() => agent.resume(paused, { approvals }));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
    expect(pay.calls).toEqual([]);
    const state = await agent.resume(paused, { approvals: { call_1: approve } });
    expect(state.output).toBe('done');
    expect(pay.calls).toHaveLength(1);
  });

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'a call whose id is %s waits like any other',
    async (id) => {
      const pay = gated();
      const agent = agentWith([toolCalls([{ name: 'pay', id }]), final('done')], pay);
      const paused = await agent.run('go');
      expect(paused.status).toBe('paused');
      const still = await agent.resume(stored(paused));
      expect(still.status).toBe('paused');
      expect(pay.calls).toEqual([]);
      const answers = Object.fromEntries([[id, approve]]);
      const state = await agent.resume(stored(still), { approvals: answers });
      expect(state.output).toBe('done');
      expect(pay.calls).toHaveLength(1);
    },
  );

  it('an answer for a run that is not paused is refused', async () => {
    const agent = agentWith([toolCall('look'), final('done')], mockTool('look'));
    const open = await agent.nextStep('go');
    const error = await refusal(() => agent.resume(open, { approvals: { call_1: approve } }));
    expect(error.code).toBe('unknown_approval');
    expect(error.message).toContain('Waiting: none.');
  });
});

describe('edited arguments', () => {
  const transfer = () =>
    mockTool('transfer', 'sent', {
      needsApproval: true,
      parameters: z.object({ amount: z.number().max(100), to: z.string().default('savings') }),
    });

  it('are validated again, recorded, run, and told to the model', async () => {
    const tool = transfer();
    const agent = agentWith([toolCall('transfer', { amount: 90 }), final('done')], tool);
    const state = await agent.resume(await agent.run('go'), {
      approvals: { call_1: { approve: true, args: { amount: 10 } } },
    });
    expect(tool.calls).toEqual([{ amount: 10, to: 'savings' }]);
    const step = state.steps.at(0)!;
    expect(step.toolCalls[0]?.args).toEqual({ amount: 10 });
    expect(step.notes).toEqual(['argsEdited:call_1']);
    expect(state.messages.withRole('tool')[0]?.text).toBe(
      '[A person changed the arguments to {"amount":10} before this ran.]\nsent',
    );
    await takesAnotherTurn(state);
  });

  it('that do not fit are refused as invalid_approval, and nothing is lost', async () => {
    const tool = transfer();
    const other = gated();
    const calls = [{ name: 'transfer', args: { amount: 90 } }, { name: 'pay' }];
    const agent = agentWith([toolCalls(calls), final('done')], tool, other);
    const paused = await agent.run('go');
    const answers: Record<string, ApprovalAnswer> = {
      call_1: { approve: true, args: { amount: 5000 } },
      call_2: approve,
    };
    const error = await refusal(() => agent.resume(paused, { approvals: answers }));
    expect(error.code).toBe('invalid_approval');
    expect(error.message).toMatch(
      /^The edited arguments for transfer \(call_1\) do not fit: amount: .* The call still waits\.$/,
    );
    // not even the good answer was used up
    expect(tool.calls).toEqual([]);
    expect(other.calls).toEqual([]);
    const state = await agent.resume(paused, {
      approvals: { ...answers, call_1: { approve: true, args: { amount: 50 } } },
    });
    expect(tool.calls).toEqual([{ amount: 50, to: 'savings' }]);
    expect(other.calls).toHaveLength(1);
    expect(state.output).toBe('done');
  });

  it('args: undefined means the arguments as they are', async () => {
    const tool = transfer();
    const agent = agentWith([toolCall('transfer', { amount: 90 }), final('done')], tool);
    const state = await agent.resume(await agent.run('go'), {
      approvals: { call_1: { approve: true, args: undefined } as never },
    });
    expect(tool.calls).toEqual([{ amount: 90, to: 'savings' }]);
    expect(state.steps.at(0)!.notes).toEqual([]);
  });

  it('the key of the call stays the same', async () => {
    const tool = transfer();
    const agent = agentWith([toolCall('transfer', { amount: 90 }), final('done')], tool);
    const paused = await agent.run('go', { executionId: 'exec-1' });
    await agent.resume(paused, { approvals: { call_1: { approve: true, args: { amount: 1 } } } });
    expect(tool.contexts[0]?.idempotencyKey).toBe('exec-1:call_1');
  });
});

describe('another process', () => {
  it('D33: resumes from the JSON document with an agent object of its own', async () => {
    const steps: string[] = [];
    const make = (script: readonly ScenarioStep[]) =>
      AgentBuilder.base()
        .withName('bank')
        .withSystemPrompt('You are a bank.')
        .withDriver(DeterministicDriver.fromSteps(...script))
        .withTools(
          mockTool('look', () => {
            steps.push('look');
            return 'seen';
          }),
          mockTool(
            'pay',
            () => {
              steps.push('pay');
              return 'paid';
            },
            { needsApproval: true },
          ),
        )
        .build();
    const first = make([toolCall('look'), toolCalls([{ name: 'look' }, { name: 'pay' }])]);
    const json = JSON.stringify(await first.run('go'));
    expect(steps).toEqual(['look', 'look']);
    const second = make([final('done')]);
    const paused = AgentState.from(JSON.parse(json));
    expect(paused.steps.length).toBe(1);
    const [pending] = paused.pendingApprovals;
    const state = await second.resume(JSON.parse(json) as never, {
      approvals: { [pending!.callId]: approve },
    });
    expect(steps).toEqual(['look', 'look', 'pay']);
    expect(state).toMatchObject({ status: 'completed', output: 'done', stepCount: 3 });
    expect(kinds(state, 1)).toEqual(['ok', 'ok']);
    await takesAnotherTurn(state);
  });

  it('D21, D24, D32: steps before the pause are stored, nothing runs twice, no message doubles', async () => {
    const look = mockTool('look', 'seen');
    const pay = gated();
    const script = [
      toolCall('look'),
      toolCall('look'),
      toolCalls([{ name: 'look' }, { name: 'pay' }]),
    ];
    const paused = stored(await agentWith(script, look, pay).run('go'));
    expect(paused.steps.length).toBe(2);
    expect(paused.currentStep).toMatchObject({ number: 3, results: [{ value: 'seen' }] });
    const before = paused.messages.toJSON();
    const state = await agentWith([final('done')], look, pay).resume(paused, {
      approvals: { call_4: approve },
    });
    expect(look.calls).toHaveLength(3);
    expect(pay.calls).toHaveLength(1);
    const after = state.messages.toJSON();
    expect(after.slice(0, before.length)).toEqual(before);
    expect(new Set(after.map(({ id }) => id)).size).toBe(after.length);
    const owners = after.flatMap(({ toolCalls: calls }) => calls.map(({ id }) => id));
    expect(owners).toEqual(['call_1', 'call_2', 'call_3', 'call_4']);
    expect(state.steps.at(2)!.messageIds).toEqual(after.slice(5, 8).map(({ id }) => id));
    await takesAnotherTurn(state);
  });

  it('waiting for a person is no working time', async () => {
    const clock = fakeClock();
    const pay = gated(
      'pay',
      () => new Promise((resolve) => clock.after(3000, () => resolve('paid'))),
    );
    const make = (...script: ScenarioStep[]) =>
      AgentBuilder.base()
        .withDriver(DeterministicDriver.create(script, { clock }))
        .withTools(pay)
        .withClock(clock)
        .build();
    const running = make(toolCall('pay', {}, '', { delayMs: 5000 })).run('go');
    await clock.advance(5000);
    const paused = await running;
    clock.jump(3_600_000);
    const resumed = make(final('done')).resume(stored(paused), { approvals: { call_1: approve } });
    await clock.advance(3000);
    const state = await resumed;
    expect(state.execution.cumulativeSeconds).toBe(8);
    expect(state.steps.at(0)!.durationMs).toBe(8000);
    expect(state.output).toBe('done');
  });
});

describe('what beats a pause', () => {
  const never = new Promise(() => {});
  const both = toolCalls([{ name: 'pay' }, { name: 'other' }]);

  it('an abort', async () => {
    const controller = new AbortController();
    const pay = gated();
    const other = mockTool('other', () => {
      controller.abort('enough');
      return never;
    });
    const state = await agentWith([both], pay, other).run('go', { signal: controller.signal });
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested', pause: null });
    expect(kinds(state)).toEqual(['aborted', 'aborted']);
    await takesAnotherTurn(state);
  });

  it('a stop request of a tool', async () => {
    const other = defineTool({
      name: 'other',
      description: 'Stops.',
      execute: (_args, { requestStop }) => {
        requestStop('limit of the customer');
        return 'ok';
      },
    });
    const state = await agentWith([both], gated(), other).run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'guard', pause: null });
    expect(state.steps.at(0)!.results.map(({ kind, value }) => [kind, value])).toEqual([
      ['aborted', 'Not finished: limit of the customer.'],
      ['ok', 'ok'],
    ]);
    await takesAnotherTurn(state);
  });

  it('the deadline', async () => {
    const clock = fakeClock();
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(both))
      .withTools(
        gated(),
        mockTool('other', () => never),
      )
      .withTimeout({ seconds: 10 })
      .withClock(clock)
      .build();
    const running = agent.run('go');
    await clock.advance(10_000);
    const state = await running;
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit', pause: null });
    expect(kinds(state)).toEqual(['timeout', 'timeout']);
    await takesAnotherTurn(state);
  });

  it('an abort before the answer is used: the approved tool does not run', async () => {
    const pay = gated();
    const agent = agentWith([toolCall('pay')], pay);
    const state = await agent.resume(await agent.run('go'), {
      approvals: { call_1: approve },
      signal: AbortSignal.abort('enough'),
    });
    expect(pay.calls).toEqual([]);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect(kinds(state)).toEqual(['aborted']);
    await takesAnotherTurn(state);
  });
});

describe('requestPause', () => {
  it('with open calls the approval is what it waits for', async () => {
    const wait = defineTool({
      name: 'wait',
      description: 'Asks for a pause.',
      execute: (_args, { requestPause }) => requestPause('later'),
    });
    const pay = gated();
    const agent = agentWith(
      [toolCalls([{ name: 'wait' }, { name: 'pay' }]), final('done')],
      wait,
      pay,
    );
    const paused = await agent.run('go');
    expect(paused.pause).toMatchObject({ kind: 'approval' });
    const state = await agent.resume(stored(paused), { approvals: { call_2: approve } });
    expect(state.output).toBe('done');
    await takesAnotherTurn(state);
  });

  it('a message may be added before it goes on', async () => {
    const wait = defineTool({
      name: 'wait',
      description: 'Asks for a pause.',
      execute: (_args, { requestPause }) => requestPause('later'),
    });
    const driver = DeterministicDriver.fromSteps(toolCall('wait'), final('done'));
    const agent = AgentBuilder.base().withDriver(driver).withTools(wait).build();
    const paused = await agent.run('go');
    const state = await agent.resume(paused.withUserMessage('and hurry'));
    expect(driver.requests[1]?.messages.at(3)?.text).toBe('and hurry');
    expect(state.output).toBe('done');
    expect(pairingProblem(state.messages)).toBeNull();
  });
});

describe('whatever is asked and however it is answered', () => {
  const names = ['free', 'pay', 'bad', 'unknown'] as const;
  const step = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 });
  const script = fc.array(step, { minLength: 1, maxLength: 4 });
  /** In each round: which of the open calls are answered, and how. */
  const rounds = fc.array(fc.array(fc.constantFrom('approve', 'deny', 'later'), { maxLength: 4 }), {
    maxLength: 12,
  });

  it('each call runs at most once and gets one result, and the history is valid', async () => {
    await fc.assert(
      fc.asyncProperty(script, rounds, async (steps, answers) => {
        const ran: string[] = [];
        const note = (_args: unknown, { callId }: { callId: string }) => void ran.push(callId);
        const tools = [
          mockTool('free', note),
          mockTool('pay', note, { needsApproval: true }),
          mockTool('bad', new Error('broken')),
        ];
        const driver = DeterministicDriver.fromSteps(
          ...steps.map((calls) => toolCalls(calls.map((name) => ({ name })))),
          final('done'),
        );
        const agent = AgentBuilder.base()
          .withDriver(driver)
          .withTools(...tools)
          .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
          .build();
        const denied = new Set<string>();
        let state = await agent.run('go');
        for (let round = 0; state.status === 'paused'; round++) {
          const approvals: Record<string, ApprovalAnswer> = {};
          state.pendingApprovals.forEach(({ callId }, i) => {
            const answer = round < answers.length ? (answers[round]?.[i] ?? 'later') : 'approve';
            if (answer === 'approve') approvals[callId] = approve;
            if (answer === 'deny') approvals[callId] = deny;
            if (answer === 'deny') denied.add(callId);
          });
          state = await agent.resume(stored(state), { approvals });
        }
        expect(state).toMatchObject({ status: 'completed', output: 'done' });
        expect(pairingProblem(state.messages)).toBeNull();
        const recorded = [...state.steps].slice(0, -1);
        expect(recorded.map((s) => s.toolCalls.map(({ name }) => name))).toEqual(steps);
        for (const s of recorded)
          expect(s.results.map(({ callId }) => callId)).toEqual(s.toolCalls.map(({ id }) => id));
        const shouldRun = recorded.flatMap((s) =>
          s.toolCalls.flatMap(({ id, name }) =>
            name === 'free' || (name === 'pay' && !denied.has(id)) ? [id] : [],
          ),
        );
        expect(ran.toSorted()).toEqual(shouldRun.toSorted());
        expect(state.usage.total).toBe(15 * (steps.length + 1));
        expect(state.messages.withRole('assistant')).toHaveLength(steps.length + 1);
      }),
      { numRuns: 60 },
    );
  });
});
