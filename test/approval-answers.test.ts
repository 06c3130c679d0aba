import type { ApprovalAnswer, Approvals } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { agentWith, approve, deny, gated } from './setup/approvals.ts';
import { refusal } from './setup/sessions.ts';
import { stored, takesAnotherTurn } from './setup/states.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

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
