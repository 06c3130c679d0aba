import { AgentBuilder, ErrorPolicy } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApprovalAnswer } from '../src/agent/approval-answer.ts';
import { approve, deny } from './setup/approvals.ts';
import { stored } from './setup/states.ts';
import { expectReplayed } from './setup/replayed.ts';

const { toolCalls, final } = ScenarioStep;

describe('random scripts and approval answers', () => {
  const names = ['free', 'pay', 'bad', 'unknown'] as const;
  const step = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 });
  const script = fc.array(step, { minLength: 1, maxLength: 4 });
  /** For each round, the answers to the open calls. */
  const rounds = fc.array(fc.array(fc.constantFrom('approve', 'deny', 'later'), { maxLength: 4 }), {
    maxLength: 12,
  });

  it('each call runs at most once and gets one result, and the history stays valid', async () => {
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
        expect(state.messages.pairingProblem()).toBeNull();
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
        expectReplayed(state);
        expect(state.messages.withRole('assistant')).toHaveLength(steps.length + 1);
      }),
      { numRuns: 60 },
    );
  });
});
