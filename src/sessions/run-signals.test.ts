import { describe, expect, it } from 'vitest';
import { HandoverSignal } from '../agent/abort-reasons.ts';
import { RunSignals } from './run-signals.ts';
import { stopText } from './stop-note.ts';

const none = { stopReason: null, pauseReason: null };

describe('RunSignals', () => {
  it('keeps the newest pause request until it is withdrawn', () => {
    const signals = new RunSignals();
    signals.signalled({ ...none, pauseReason: 'lunch' });
    expect(signals.pauseReason).toBe('lunch');
    signals.signalled(none);
    expect(signals.pauseReason).toBeNull();
    expect(signals.abortSignal.aborted).toBe(false);
  });

  it('keeps the first stop request with its requester, and ignores later ones', () => {
    const signals = new RunSignals();
    const first = stopText({ reason: 'enough', by: 'ann', at: null });
    signals.signalled({ ...none, stopReason: first });
    signals.signalled({ ...none, stopReason: 'again' });
    signals.signalled(none);
    expect(signals.stopReason).toBe(first);
    expect(signals.abortSignal.reason).toMatchObject({ reason: 'enough', by: 'ann' });
    expect(signals.failure).toBeNull();
  });

  it.each(['fail', 'lost'] as const)(
    'aborts the run when nothing more can be written: %s',
    (how) => {
      const signals = new RunSignals();
      signals[how]('first');
      signals[how]('second');
      expect(signals.failure).toBe('first');
      expect(signals.abortSignal.aborted).toBe(true);
    },
  );

  it('interrupts its work for a handover, and can still be stored', () => {
    const signals = new RunSignals();
    signals.handOver();
    expect(signals.abortSignal.reason).toBeInstanceOf(HandoverSignal);
    expect(signals.failure).toBeNull();
  });

  it('ignores the loss of a lease that its last commit releases, but not a failure of that commit', () => {
    const signals = new RunSignals();
    signals.isEnding = true;
    signals.lost('not ours any more');
    expect(signals.failure).toBeNull();
    signals.fail('not written');
    expect(signals.failure).toBe('not written');
  });
});
