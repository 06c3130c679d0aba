import { describe, expect, it } from 'vitest';
import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import { stopLine, stopText } from './stop-text.ts';

const stop = {
  status: 'stopped',
  stop_reason: 'steps_limit',
  stop_message: 'The limit of steps was reached: 5 of 5 steps used while work is still pending.',
  resolved_by: 'StepsLimit',
  remedy: {
    text: 'grant more steps with resume(state, { grant: { steps: 5 } }), or raise the limit with withMaxSteps(...).',
    option: 'withMaxSteps(...)',
    grant: { steps: 5 },
  },
  error_message: null,
  last_response: null,
} as const;

describe('why it stands still', () => {
  it('D02: the payload of the status alone names the limit and the option to raise', () => {
    expect(stopText(stop)).toEqual({
      title: 'Stopped at the step limit',
      reason: stop.stop_message,
      remedy:
        'Grant more steps with resume(state, { grant: { steps: 5 } }), or raise the limit with withMaxSteps(...).',
    });
    expect(stopLine(stop)).toBe(
      `Stopped at the step limit. ${stop.stop_message} To go on: Grant more steps with ` +
        'resume(state, { grant: { steps: 5 } }), or raise the limit with withMaxSteps(...).',
    );
  });

  it('names the option where the words of the remedy do not', () => {
    const remedy = { text: 'allow more.', option: 'withMaxCost(...)' };
    expect(stopText({ ...stop, remedy }).remedy).toBe('Allow more. Option: withMaxCost(...).');
  });

  it('tells the error once', () => {
    const failed = { ...stop, status: 'failed', stop_reason: 'error', remedy: null } as const;
    expect(stopText({ ...failed, error_message: 'no such key' }).reason).toBe(
      `${stop.stop_message} no such key`,
    );
    const told = { ...failed, stop_message: 'It failed: no such key.' };
    expect(stopText({ ...told, error_message: 'no such key' }).reason).toBe(
      'It failed: no such key.',
    );
  });

  it.each<[BroadcastStatus, StopReason | null, string]>([
    ['stopped', 'steps_limit', 'Stopped at the step limit'],
    ['stopped', 'token_limit', 'Stopped at the budget limit'],
    ['stopped', 'time_limit', 'Stopped at the time limit'],
    ['failed', 'retry_limit', 'Failed too often'],
    ['failed', 'error', 'Failed'],
    ['stopped', 'finish_reason', 'The answer broke off'],
    ['stopped', 'guard', 'Stopped by a rule'],
    ['cancelled', 'user_requested', 'Cancelled'],
    ['completed', 'completed', 'Completed'],
    ['paused', null, 'Paused'],
  ])('%s by %s is titled "%s"', (status, stop_reason, title) => {
    expect(stopText({ status, stop_reason }).title).toBe(title);
  });

  it('a completed run needs no remedy, and a bare status has words too', () => {
    expect(stopText({ ...stop, status: 'completed' }).remedy).toBeNull();
    expect(stopLine({ status: 'paused' })).toBe('Paused.');
  });
});
