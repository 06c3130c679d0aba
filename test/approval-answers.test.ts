import type { Approvals } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ApprovalAnswer } from '../src/agent/approval-answer.ts';
import { agentWith, approve, deny, gated } from './setup/approvals.ts';
import { refusal } from './setup/sessions.ts';
import { stored, takesAnotherTurn } from './setup/states.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('each call takes one answer', () => {
  it('D19: rejects an approval after the call was denied and the run ended', async () => {
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

  it('D34: rejects a second approval of the same call', async () => {
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

  it('D34: an old approval does not apply to a new call with the same id', async () => {
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
    ['null', { call_1: null as never }, 'invalid_approval', /is null, expected \{ approve/],
    ['a bare true', { call_1: true as never }, 'invalid_approval', /is true, expected/],
    ['approve: false', { call_1: { approve: false } as never }, 'invalid_approval', /with approve/],
    [
      'approve and deny together',
      { call_1: { approve: true, deny: 'no' } as never },
      'invalid_approval',
      /approve, deny/,
    ],
    ['a denial without a reason', { call_1: { deny: true } as never }, 'invalid_approval', /deny/],
    [
      'arguments that are not an object',
      { call_1: { approve: true, args: [] as never } },
      'invalid_approval',
      /approve, args/,
    ],
  ])('rejects %s and still waits for an answer', async (_case, approvals, code, message) => {
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
    'waits for approval of a call whose id is %s',
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

  it('rejects an answer for a run that is not paused', async () => {
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

  it('are validated, recorded, executed and reported to the model', async () => {
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

  it('are rejected as invalid_approval if they do not match the schema, and no answer is lost', async () => {
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
    // the valid answer was not consumed either
    expect(tool.calls).toEqual([]);
    expect(other.calls).toEqual([]);
    const state = await agent.resume(paused, {
      approvals: { ...answers, call_1: { approve: true, args: { amount: 50 } } },
    });
    expect(tool.calls).toEqual([{ amount: 50, to: 'savings' }]);
    expect(other.calls).toHaveLength(1);
    expect(state.output).toBe('done');
  });

  it('args: undefined keeps the original arguments', async () => {
    const tool = transfer();
    const agent = agentWith([toolCall('transfer', { amount: 90 }), final('done')], tool);
    const state = await agent.resume(await agent.run('go'), {
      approvals: { call_1: { approve: true, args: undefined } as never },
    });
    expect(tool.calls).toEqual([{ amount: 90, to: 'savings' }]);
    expect(state.steps.at(0)!.notes).toEqual([]);
  });

  it('keep the idempotency key of the call', async () => {
    const tool = transfer();
    const agent = agentWith([toolCall('transfer', { amount: 90 }), final('done')], tool);
    const paused = await agent.run('go', { executionId: 'exec-1' });
    await agent.resume(paused, { approvals: { call_1: { approve: true, args: { amount: 1 } } } });
    expect(tool.contexts[0]?.idempotencyKey).toBe('exec-1:call_1');
  });
});
