import { describe, expect, it } from 'vitest';
import type { WireExplanation } from '../broadcasting/envelope.ts';
import type { BroadcastStatus } from '../agent/agent-status.ts';
import { stopControl, stopLine, stopText } from './stop-text.ts';

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

  it('D02: names the limit and the option if a server sends no explanation', () => {
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
});

describe('stopControl', () => {
  const offering = (...actions: WireExplanation['actions']) => ({
    ...stop,
    explanation: { ...explanation, actions },
  });
  const text = 'To continue, do that.';

  it('is the first action of an explanation that a button can take', () => {
    const grant = { kind: 'grant', grant: { steps: 5 } };
    expect(stopControl({ ...stop, explanation })).toEqual(grant);
    const wait = { kind: 'wait', text, until: '2026-01-16T12:00:00.000Z' } as const;
    expect(stopControl(offering(wait, ...explanation.actions))).toEqual(grant);
    expect(stopControl(offering({ kind: 'resume', text }))).toEqual({ kind: 'resume' });
    expect(stopControl(offering({ kind: 'retry', text }))).toEqual({ kind: 'retry' });
    expect(stopControl(offering({ kind: 'new_message', text }))).toBeNull();
    expect(stopControl(offering())).toBeNull();
  });

  it('a run that needs approval cannot simply be resumed', () => {
    const approve = { kind: 'approve', text, call_ids: ['call_1'] } as const;
    expect(stopControl({ ...offering(approve), status: 'paused' })).toBeNull();
  });

  it('is the remedy if a server sends no explanation', () => {
    expect(stopControl(stop)).toEqual({ kind: 'grant', grant: { steps: 5 } });
    expect(stopControl({ ...stop, status: 'paused', remedy: null })).toEqual({ kind: 'resume' });
    expect(stopControl({ ...stop, remedy: null })).toBeNull();
  });
});
