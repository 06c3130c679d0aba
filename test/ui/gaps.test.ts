import { describe, expect, it } from 'vitest';
import type { Envelope } from 'onward/broadcasting';
import { newUiState, reduceEnvelope, reduceRefill, skipGap } from 'onward/ui';
import { Wire } from './wire.ts';
import { reduceAll, said, show } from './shown.ts';

describe('gaps', () => {
  const long = () => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.message('m1', 'assistant', 'We have 7.', 1);
    wire.stepDone(1);
    wire.status('completed', { stop_reason: 'completed', stop_message: 'Done.' });
    return wire.all;
  };
  const refill = (envelopes: readonly Envelope[], seq: number, more = false) => ({
    session_id: 's1',
    execution_id: 'x1',
    envelopes,
    seq,
    more,
  });

  it('show known envelopes immediately and have the position of the missing ones', () => {
    const all = long();
    const state = reduceAll([all[0]!, all[5]!]);
    expect(state).toMatchObject({
      status: 'completed',
      gap: { executionId: 'x1', after: 1 },
      place: { executionId: 'x1', after: 1 },
    });
    const whole = reduceRefill(state, refill(all.slice(1), 6));
    expect(whole.gap).toBeNull();
    expect(whole.place).toEqual({ executionId: 'x1', after: 6 });
    expect(said(whole)).toEqual(['user: Lamps?', 'assistant: We have 7.']);
    expect(reduceRefill(whole, refill(all, 6))).toBe(whole);
  });

  it('are filled page by page', () => {
    const all = long();
    let state = reduceAll([all[0]!, all[5]!]);
    state = reduceRefill(state, refill(all.slice(1, 3), 3, true));
    expect(state.gap).toEqual({ executionId: 'x1', after: 3 });
    state = reduceRefill(state, refill(all.slice(3), 6));
    expect(state.gap).toBeNull();
  });

  it('end after a refill if the missing numbers were filtered out', () => {
    const all = long();
    const later = { ...all[3]!, seq: 9, prev: 8 } as Envelope;
    const state = reduceAll([...all.slice(0, 3), later]);
    expect(state.gap).toEqual({ executionId: 'x1', after: 3 });
    const filled = reduceRefill(state, refill([later], 9));
    expect(filled.gap).toBeNull();
    const linked = { ...all[4]!, seq: 12, prev: 9 } as Envelope;
    expect(reduceEnvelope(filled, linked).gap).toBeNull();
  });

  it('are skipped by skipGap, which ignores the missing envelopes later', () => {
    const all = long();
    const state = skipGap(reduceAll([all[0]!, all[5]!]));
    expect(state.gap).toBeNull();
    expect(state.place).toEqual({ executionId: 'x1', after: 6 });
    expect(skipGap(state)).toBe(state);
    expect(reduceAll([all[5]!], state)).toBe(state);
  });

  it('are dropped a thousand envelopes later', () => {
    const wire = new Wire().begin();
    const { all } = wire;
    for (let step = 1; step <= 600; step++) {
      wire.step(step);
      wire.message(`m${step}`, 'assistant', `Answer ${step}`, step);
    }
    const lossy = all.filter((_, i) => i !== 1);
    expect(reduceAll(lossy.slice(0, 900)).gap).toEqual({ executionId: 'x1', after: 1 });
    const state = reduceAll(lossy);
    expect(state.gap).toBeNull();
    expect(said(state)).toHaveLength(600);
  });

  it('exist after a chunk of an unknown run, which shows as running', () => {
    const wire = new Wire().begin();
    wire.chunk('m1', 'We ');
    const state = reduceAll(wire.all.slice(2));
    expect(state).toMatchObject({
      status: 'processing',
      executionId: 'x1',
      gap: { executionId: 'x1', after: 0 },
    });
    expect(said(state)).toEqual(['assistant: We']);
    expect(skipGap(state).gap).toBeNull();
    const filled = reduceRefill(state, refill(wire.all.slice(0, 2), 2));
    expect(said(filled)).toEqual(['user: Lamps?', 'assistant: We']);
    expect(filled.gap).toBeNull();
  });

  it('exist if the next run starts before the end of the last one arrives', () => {
    const first = long();
    const second = new Wire('x2', Date.UTC(2026, 0, 17)).begin('More?');
    const state = reduceAll([...first.slice(0, 4), ...second.all]);
    expect(state.gap).toEqual({ executionId: 'x1', after: 4 });
    expect(state).toMatchObject({ status: 'processing', executionId: 'x2' });
    const filled = reduceRefill(state, refill(first.slice(4), 6));
    expect(filled.gap).toBeNull();
    expect(filled).toMatchObject({ status: 'processing', executionId: 'x2' });
  });

  it('stay until the log of an earlier run is read to its end', () => {
    const first = long();
    const second = new Wire('x2', Date.UTC(2026, 0, 17)).begin('More?');
    let state = reduceAll([...first.slice(0, 1), ...second.all]);
    state = reduceRefill(state, refill(first.slice(1, 3), 3, true));
    expect(state.gap).toEqual({ executionId: 'x1', after: 3 });
    // it has no end: its process crashed, and the log has no more
    state = reduceRefill(state, refill(first.slice(3, 4), 4));
    expect(state.gap).toBeNull();
    expect(said(state)).toEqual(['user: Lamps?', 'assistant: We have 7.', 'user: More?']);
  });

  it('exist for an earlier run with many steps', () => {
    const first = new Wire('x1').begin();
    for (let step = 1; step <= 200; step++) first.step(step);
    const second = new Wire('x2', first.time).begin('More?');
    const state = reduceAll([...first.all, ...second.all]);
    expect(state.gap).toEqual({ executionId: 'x1', after: 202 });
    expect(reduceRefill(state, refill([], 202)).gap).toBeNull();
    expect(skipGap(state).gap).toBeNull();
  });

  it('D64: count an envelope once that a page has several times', () => {
    const wire = new Wire().begin();
    const done = wire.stepDone(1, 40);
    const page = refill([...wire.all, done, done], 3);
    expect(reduceRefill(newUiState(), page).usage.total).toBe(40);
  });

  it('do not change with an empty log', () => {
    const state = newUiState();
    expect(reduceRefill(state, { ...refill([], 0), execution_id: null })).toBe(state);
    expect(reduceRefill(state, refill([], 0))).toBe(state);
  });
});

describe('executions', () => {
  it('keep their order if the end of one arrives after the start of the next', () => {
    const first = new Wire('x1').begin('One');
    const late = first.status('stopped', { stop_reason: 'guard', stop_message: 'Enough.' });
    const second = new Wire('x2', first.time + 5).begin('Two');
    const state = reduceAll([...first.all.filter((e) => e !== late), ...second.all, late]);
    expect(show(state)).toEqual(['user: One', 'status: Enough.', 'user: Two', 'status: Thinking…']);
    expect(state).toMatchObject({ executionId: 'x2', status: 'processing', stop: null, gap: null });
  });

  it('keep the newest if a new client gets a late end of an earlier one', () => {
    const first = new Wire('x1').begin('One');
    const late = first.status('completed', { stop_reason: 'completed' });
    const second = new Wire('x2', first.time + 5).begin('Two');
    const state = reduceAll([...second.all, late]);
    expect(state).toMatchObject({ executionId: 'x2', status: 'processing' });
  });

  it('are newer after an end, even with an earlier timestamp', () => {
    const first = new Wire('x1').begin('One');
    first.status('completed', { stop_reason: 'completed' });
    const second = new Wire('x2', first.time - 3_600_000).begin('Two');
    expect(reduceAll([...first.all, ...second.all])).toMatchObject({
      executionId: 'x2',
      status: 'processing',
    });
  });

  it('D64: have their own usage and steps, and duplicates count once', () => {
    const first = new Wire('x1').begin();
    first.step(1);
    first.stepDone(1, 40);
    first.step(2);
    const again = first.stepDone(2, 60);
    let state = reduceAll([...first.all, again, again]);
    expect(state).toMatchObject({ usage: { input: 90, output: 10, total: 100 }, stepCount: 2 });
    first.status('completed', { stop_reason: 'completed' });
    const second = new Wire('x2', first.time).begin();
    state = reduceAll([...first.all, ...second.all]);
    expect(state).toMatchObject({ usage: { total: 0 }, stepCount: 0 });
  });

  it('of another session are ignored', () => {
    const state = reduceAll(new Wire().begin().all);
    const foreign = new Wire('x9').begin('Secret');
    foreign.chunk('m9', 'secret');
    foreign.delta('c9', '{}');
    const others = foreign.all.map((envelope) => ({ ...envelope, session_id: 's2' }));
    expect(reduceAll(others, state)).toBe(state);
  });
});
