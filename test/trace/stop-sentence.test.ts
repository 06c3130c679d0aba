import { ContinuationOutcome } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { stopSentence, wentOnBecause } from '../../src/trace/index.ts';
import { sentence, with_ } from './sentences.ts';

const { toolCall, final } = ScenarioStep;

describe('the stop sentence', () => {
  it('says in words what was recorded only where the numbers are there', () => {
    const voice = { criterion: 'StepsLimit', decision: 'forbid', reason: 'enough.' } as const;
    const outcome = {
      decision: 'forbid',
      shouldContinue: false,
      resolvedBy: 'StepsLimit',
      stopReason: 'steps_limit',
      evaluations: [{ ...voice, context: {}, stopReason: 'steps_limit' }],
    } as const;
    expect(stopSentence({ status: 'stopped', outcome })).toEqual({
      lead: 'Stopped because',
      because: 'enough',
      goOnIf: 'you sent a new message',
      note: null,
      action: { kind: 'message', label: 'New message' },
    });
  });

  it('two voices that count the same thing get what is enough for both', () => {
    const forbids = (criterion: string, seconds: number) => ({
      criterion,
      decision: 'forbid' as const,
      reason: 'too long',
      context: { used: 60, limit: 60 },
      stopReason: 'time_limit' as const,
      remedy: { text: '', grant: { seconds } },
    });
    const outcome = ContinuationOutcome.resolve([
      forbids('CumulativeExecutionTimeLimit', 90),
      forbids('ExecutionTimeLimit', 60),
    ]);
    expect(stopSentence({ status: 'stopped', outcome })).toMatchObject({
      goOnIf: 'it had 90 more seconds',
      action: { grant: { seconds: 90 }, label: 'Grant 90 s' },
    });
  });

  it('says nothing of a run that works or has not begun', () => {
    expect(stopSentence({ status: 'processing', outcome: null })).toBeNull();
    expect(stopSentence({ status: 'idle', outcome: null })).toBeNull();
  });

  it('waits for approvals without a button: the cards have them', () => {
    const pause = { kind: 'approval' as const };
    const waitingFor = (...tools: readonly string[]) =>
      stopSentence({
        status: 'paused',
        outcome: null,
        pause,
        pendingApprovals: tools.map((tool) => ({ tool })),
      });
    expect(waitingFor('delete_lead')).toMatchObject({
      lead: 'Waiting because',
      because: 'delete_lead needs your approval',
      goOnIf: 'you approved or denied it',
      action: null,
    });
    expect(waitingFor('delete_lead', 'mail', 'mail')).toMatchObject({
      because: '3 calls need your approval: delete_lead, mail',
      goOnIf: 'you approved or denied each of them',
      action: null,
    });
  });

  it.each([
    [{ kind: 'requested' as const, reason: 'on request' }, 'it was paused on request'],
    [{ kind: 'requested' as const, reason: 'lunch.' }, 'it was paused: lunch'],
    [{ kind: 'fork' as const }, 'this is a copy that nobody has resumed yet'],
  ])('paused by %j', (pause, because) => {
    expect(stopSentence({ status: 'paused', outcome: null, pause })).toEqual({
      lead: 'Waiting because',
      because,
      goOnIf: 'you resumed it',
      note: null,
      action: { kind: 'resume', label: 'Resume' },
    });
  });

  it('tells the error where there is no verdict', () => {
    const error = { message: 'the store is gone.' };
    const said = stopSentence({ status: 'failed', outcome: null, error });
    expect(said).toMatchObject({
      lead: 'Failed because',
      because: 'the store is gone',
      action: null,
    });
  });

  it('what to do is no part of the sentence', () => {
    const reason = 'The driver needs a package. Run: npm install openai';
    const voice = {
      criterion: 'SessionRuntime',
      decision: 'forbid',
      reason,
      stopReason: 'error',
      context: {},
      remedy: { text: 'mend the cause, then send a new message.' },
    } as const;
    const outcome = ContinuationOutcome.resolve([voice]).toJSON();
    expect(stopSentence({ status: 'failed', outcome })).toMatchObject({
      because: 'the driver needs a package',
      goOnIf: 'you sent a new message',
      note: 'Run: npm install openai. To go on: mend the cause, then send a new message.',
    });
  });

  it('an error is told as it was recorded where its record is not at hand', async () => {
    const state = await with_(toolCall('create_lead')).build().run('go');
    expect(sentence(state).text).toBe(
      'Failed because tool error in create_lead (no lead), and the policy stops on tool errors — it would go on if it could try once more.',
    );
  });

  it('going on has a sentence of its own', async () => {
    const state = await with_(toolCall('search'), final('x')).build().run('go');
    const [first, second] = state.steps.toJSON().map(({ outcome }) => outcome!);
    expect(wentOnBecause(first!)).toBe(
      'Went on because the model called search, requested by ToolCallPresenceCheck',
    );
    expect(wentOnBecause(second!)).toBeNull();
  });
});
