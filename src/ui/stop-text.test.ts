import { describe, expect, it } from 'vitest';
import type { BroadcastStatus } from '../agent/agent-status.ts';
import { offeredGrant, stopLine, stopText } from './stop-text.ts';

const stop = {
  status: 'stopped',
  stop_reason: 'steps_limit',
  stop_message: 'The limit of steps was reached: 5 of 5 steps used while work is still pending.',
  resolved_by: 'StepsLimit',
  remedy: {
    text: 'call resume(state, { grant: { steps: 5 } }), or raise the limit with withMaxSteps(...).',
    option: 'withMaxSteps(...)',
    grant: { steps: 5 },
  },
  error_message: null,
  last_response: null,
} as const;

const explanation = {
  headline: 'Stopped because it used 5 of 5 steps before the model read a tool result.',
  detail: 'It also spent $0.10 of $0.10.',
  decided_by: 'StepsLimit',
  stop_reason: 'steps_limit',
  actions: [
    {
      kind: 'grant',
      grant: { steps: 5 },
      minimum: { steps: 1 },
      text: 'To continue, add 5 steps.',
    },
  ],
} as const;

describe('stopText', () => {
  it('D02: prints the explanation of a status', () => {
    expect(stopText({ ...stop, explanation })).toEqual({
      title: explanation.headline,
      reason: explanation.detail,
      remedy: 'To continue, add 5 steps. Option: withMaxSteps(...).',
    });
    expect(stopLine({ ...stop, explanation })).toBe(
      `${explanation.headline} ${explanation.detail} To continue, add 5 steps. Option: withMaxSteps(...).`,
    );
  });

  it('D02: names the limit and the option where a server sends no explanation', () => {
    expect(stopLine(stop)).toBe(
      `${stop.stop_message} To continue: call resume(state, { grant: { steps: 5 } }), or raise the limit with withMaxSteps(...).`,
    );
  });

  it('adds the error of an earlier server once', () => {
    const failed = { ...stop, status: 'failed', remedy: null } as const;
    expect(stopLine({ ...failed, error_message: 'no such key' })).toBe(
      `${stop.stop_message} no such key`,
    );
    expect(stopLine({ ...failed, error_message: stop.stop_message })).toBe(stop.stop_message);
  });

  it.each<[BroadcastStatus, string]>([
    ['stopped', 'Stopped.'],
    ['failed', 'Failed.'],
    ['cancelled', 'Cancelled.'],
    ['completed', 'Completed.'],
    ['paused', 'Paused.'],
  ])('names a bare status: %s', (status, title) => {
    expect(stopLine({ status })).toBe(title);
  });

  it('offers nothing for a completed run', () => {
    expect(stopText({ ...stop, status: 'completed' }).remedy).toBeNull();
  });

  it('finds the grant that an explanation offers, else that of the remedy', () => {
    expect(offeredGrant({ ...stop, explanation })).toEqual({ steps: 5 });
    expect(offeredGrant(stop)).toEqual({ steps: 5 });
    expect(offeredGrant({ ...stop, explanation: { ...explanation, actions: [] } })).toBeUndefined();
  });
});
