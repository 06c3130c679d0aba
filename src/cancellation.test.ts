import { describe, expect, it, vi } from 'vitest';
import { Cancellation, Cancelled, type CancelCause } from './cancellation.ts';

const byUser: CancelCause = { by: 'user', reason: 'enough' };
const byDeadline: CancelCause = { by: 'deadline', reason: 'too late' };

describe('a cancellation', () => {
  it('keeps the first cause', () => {
    const cancellation = new Cancellation();
    expect(cancellation.cause).toBeNull();
    cancellation.cancel(byUser);
    cancellation.cancel(byDeadline);
    expect(cancellation.cause).toBe(byUser);
  });

  it.each(['before', 'after'])('aborts its signal, read %s the cancel', (when) => {
    const cancellation = new Cancellation();
    if (when === 'before') expect(cancellation.signal.aborted).toBe(false);
    cancellation.cancel(byDeadline);
    const { signal } = cancellation;
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toBeInstanceOf(Cancelled);
    expect(signal.reason).toMatchObject({ by: 'deadline', message: 'too late', name: 'Cancelled' });
    expect(cancellation.signal).toBe(signal);
  });

  it('notifies every member once, also one that joins after the cancel', () => {
    const cancellation = new Cancellation();
    const early = { cancelled: vi.fn() };
    const gone = { cancelled: vi.fn() };
    const late = { cancelled: vi.fn() };
    cancellation.join(early);
    cancellation.join(gone);
    cancellation.leave(gone);
    cancellation.cancel(byUser);
    cancellation.cancel(byDeadline);
    cancellation.join(late);
    expect(early.cancelled.mock.calls).toEqual([[byUser]]);
    expect(gone.cancelled).not.toHaveBeenCalled();
    expect(late.cancelled.mock.calls).toEqual([[byUser]]);
  });

  it('work may leave or join while it is notified', () => {
    const cancellation = new Cancellation();
    const reported: string[] = [];
    const second = { cancelled: () => reported.push('second') };
    const third = { cancelled: () => reported.push('third') };
    cancellation.join({
      cancelled: () => {
        reported.push('first');
        cancellation.leave(second);
        cancellation.join(third);
      },
    });
    cancellation.join(second);
    cancellation.cancel(byUser);
    expect(reported).toEqual(['first', 'third', 'second']);
  });
});

describe('race', () => {
  it('settles like the work', async () => {
    const cancellation = new Cancellation();
    await expect(cancellation.race(Promise.resolve(7))).resolves.toBe(7);
    await expect(cancellation.race(Promise.reject(new Error('no')))).rejects.toThrow('no');
    cancellation.cancel(byUser);
  });

  it('rejects as soon as it is cancelled, even if the work hangs', async () => {
    const cancellation = new Cancellation();
    const racing = cancellation.race(new Promise(() => {}));
    cancellation.cancel(byUser);
    await expect(racing).rejects.toMatchObject({
      name: 'Cancelled',
      by: 'user',
      message: 'enough',
    });
  });

  it('rejects immediately if already cancelled, and ignores a later failure of the work', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const cancellation = new Cancellation();
    cancellation.cancel(byDeadline);
    let fail: (error: Error) => void = () => {};
    const work = new Promise<never>((_resolve, reject) => (fail = reject));
    await expect(cancellation.race(work)).rejects.toBeInstanceOf(Cancelled);
    fail(new Error('late'));
    await new Promise((resolve) => setTimeout(resolve, 0));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('finished work leaves no listener', async () => {
    const cancellation = new Cancellation();
    const joined = vi.spyOn(cancellation, 'join');
    const left = vi.spyOn(cancellation, 'leave');
    await cancellation.race(Promise.resolve());
    await cancellation.race(Promise.reject(new Error('x'))).catch(() => {});
    expect(left.mock.calls).toEqual(joined.mock.calls);
    expect(left).toHaveBeenCalledTimes(2);
  });
});
