import { ContinuationOutcome } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { continuedBecause, stopSentence } from '../../src/trace/index.ts';
import { sentence, with_ } from './sentences.ts';

const { toolCall, final } = ScenarioStep;

describe('the stop sentence', () => {
  it('quotes the reason if the record has no numbers', () => {
    const evaluation = { criterion: 'StepsLimit', decision: 'forbid', reason: 'enough.' } as const;
    const outcome = {
      decision: 'forbid',
      shouldContinue: false,
      resolvedBy: 'StepsLimit',
      stopReason: 'steps_limit',
      evaluations: [{ ...evaluation, context: {}, stopReason: 'steps_limit' }],
    } as const;
    expect(stopSentence({ status: 'stopped', outcome })).toMatchObject({
      lead: 'Stopped because',
      because: "one of this assistant's rules ended it",
      goOnIf: 'you sent a new message',
      note: 'The rule says: enough.',
      action: { kind: 'message', label: 'New message' },
    });
  });

  it('grants enough for two limits of the same kind', () => {
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
      action: { grant: { seconds: 90 }, label: 'Continue with 90 more seconds' },
    });
  });

  it('is null for a run that is busy or has not started', () => {
    expect(stopSentence({ status: 'processing', outcome: null })).toBeNull();
    expect(stopSentence({ status: 'idle', outcome: null })).toBeNull();
  });

  it('has no button while calls need approval, because their cards have one', () => {
    const pause = { kind: 'approval' as const };
    const waitingFor = (...tools: readonly string[]) =>
      stopSentence({
        status: 'paused',
        outcome: null,
        pause,
        pendingApprovals: tools.map((tool, i) => ({ tool, callId: `c${i}` })),
      });
    expect(waitingFor('delete_lead')).toMatchObject({
      lead: 'Waiting because',
      because: 'delete_lead needs approval',
      goOnIf: 'you approved or denied it',
      action: null,
    });
    expect(waitingFor('delete_lead', 'mail', 'mail')).toMatchObject({
      because: '3 calls need approval: delete_lead, mail',
      goOnIf: 'you approved or denied each of them',
      action: null,
    });
  });

  it.each([
    [{ kind: 'requested' as const, reason: 'on request' }, 'it was paused on request'],
    [{ kind: 'requested' as const, reason: 'lunch.' }, 'it was paused: lunch'],
    [{ kind: 'fork' as const }, 'this fork has not been resumed'],
  ])('is about a pause by %j', (pause, because) => {
    expect(stopSentence({ status: 'paused', outcome: null, pause })).toMatchObject({
      lead: 'Waiting because',
      because,
      goOnIf: 'you resumed it',
      note: null,
      action: { kind: 'resume', label: 'Resume' },
    });
  });

  it('quotes the error if there is no outcome', () => {
    const error = { message: 'the store is gone.' };
    const said = stopSentence({ status: 'failed', outcome: null, error });
    expect(said).toMatchObject({
      lead: 'Failed because',
      because: 'an error ended it',
      note: 'the store is gone.',
      action: null,
    });
  });

  it('names the fix if a session could not run', () => {
    const reason = 'The driver needs a package. Run: npm install openai';
    const evaluation = {
      criterion: 'SessionRuntime',
      decision: 'forbid',
      reason,
      stopReason: 'error',
      context: {},
      remedy: { text: 'fix the cause, then send a new message.' },
    } as const;
    const outcome = ContinuationOutcome.resolve([evaluation]).toJSON();
    expect(stopSentence({ status: 'failed', outcome })).toMatchObject({
      because: 'the work on this conversation failed',
      goOnIf: 'the cause were removed',
      note: 'The error was: The driver needs a package. Run: npm install openai.',
      explanation: {
        actions: [{ kind: 'change', developerText: 'fix the cause, then send a new message.' }],
      },
    });
  });

  it('explains an error from the outcome alone', async () => {
    const state = await with_(toolCall('create_lead')).build().run('go');
    expect(sentence(state).text).toBe(
      'Failed because create_lead failed, and this assistant stops on tool errors. To continue, try again.',
    );
  });

  it('explains why a run continued', async () => {
    const state = await with_(toolCall('search'), final('x')).build().run('go');
    const [first, second] = state.steps.toJSON().map(({ outcome }) => outcome!);
    expect(continuedBecause(first!)).toBe(
      'Continued because the model called search, requested by ToolCallPresenceCheck',
    );
    expect(continuedBecause(second!)).toBeNull();
  });
});
