import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Envelope } from 'onward/broadcasting';
import {
  newUiState,
  reconcile,
  reduceEnvelope,
  reduceRefill,
  type UiMessage,
  type UiState,
} from 'onward/ui';
import { play, type ModelRun } from './run-model.ts';
import { refillOf } from './run-refill.ts';
import { presetArb, sessionArb } from './run-specs.ts';

const screenOf = ({ messages, status, stop, approvals, usage, stepCount }: UiState) => ({
  messages,
  status,
  stop,
  approvals,
  usage,
  stepCount,
});

const reduceAll = (envelopes: readonly Envelope[], state: UiState = newUiState()): UiState =>
  envelopes.reduce(reduceEnvelope, state);

/** Fills all gaps page by page, like a client, and throws if it does not end. */
function repaired(run: ModelRun, state: UiState, limit: number): UiState {
  let next = state;
  for (let asked = 0; next.gap; asked++) {
    if (asked > 2_000) throw new Error('It requests forever.');
    const { executionId, after } = next.gap;
    next = reduceRefill(next, refillOf(run, executionId, after, limit));
  }
  return next;
}

/** Reads everything after the position and the newest execution, as on a reconnect. */
function caughtUp(run: ModelRun, state: UiState, limit: number): UiState {
  const newest = [...run.logs.keys()].at(-1) ?? '';
  let next = repaired(run, state, limit);
  for (let asked = 0; ; asked++) {
    if (asked > 2_000) throw new Error('It requests forever.');
    const after = next.place?.executionId === newest ? next.place.after : 0;
    const refill = refillOf(run, newest, after, limit);
    next = repaired(run, reduceRefill(next, refill), limit);
    if (!refill.more) return next;
  }
}

/** Checks the invariants of a state, whichever envelopes arrived. It has no `expect` because it runs a million times. */
function problemOf(
  run: ModelRun,
  places: ReadonlyMap<string, number>,
  state: UiState,
): string | null {
  const ids = new Set<string>();
  let last = -1;
  for (const { id, role, content, metadata } of state.messages) {
    if (ids.has(id)) return `${id} is shown twice`;
    ids.add(id);
    if (role === 'assistant')
      for (const part of [content, metadata.reasoning ?? ''])
        if (!run.texts.some((text) => text.startsWith(part))) return `"${part}" was never said`;
    // rows for calls without a text have generated ids, which depend on the first known call
    const place = id.startsWith('m') ? (places.get(id) ?? last) : last;
    if (place < last) return `${id} comes too late`;
    last = place;
  }
  return state.usage.total > run.usage && state.executionId === [...run.logs.keys()].at(-1)
    ? `${state.usage.total} tokens were not used`
    : null;
}

const placesOf = ({ messages }: UiState): ReadonlyMap<string, number> =>
  new Map(messages.map(({ id }, i) => [id, i]));

function watched(run: ModelRun, envelopes: readonly Envelope[], truth: UiState): UiState {
  const places = placesOf(truth);
  let state = newUiState();
  for (const envelope of envelopes) {
    state = reduceEnvelope(state, envelope);
    const problem = problemOf(run, places, state);
    if (problem !== null) throw new Error(problem);
  }
  return state;
}

/** Returns the stored conversation: no status lines, other ids for generated rows, and no tool durations. */
const recordOf = ({ messages }: UiState): readonly UiMessage[] =>
  messages
    .filter(({ role, metadata }) => role !== 'status' && !metadata.streaming)
    .map((message) => ({
      ...message,
      id: message.id.includes(':') ? `msg-${message.id}` : message.id,
      metadata: Object.fromEntries(
        Object.entries(message.metadata).filter(
          ([name]) => name !== 'tool_duration_ms' && name !== 'tool_error',
        ),
      ),
    }));

/** Returns the rows without status lines, which a page of the server does not have. */
const said = ({ messages }: UiState): string[] =>
  messages
    .filter(({ role }) => role !== 'status')
    .map(
      ({ role, content, metadata }) =>
        `${role} ${content} ${metadata.tool_call_id ?? ''} ${(metadata.tool_calls ?? []).map(({ id }) => id).join(' ')}`,
    );

/** Whether it starts or continues an execution. These are never lost, because a client cannot detect that. */
const isStart = (envelope: Envelope): boolean =>
  envelope.type === 'agent.status' && envelope.payload.status === 'processing';

/** Delays envelopes by some positions, but not beyond the end of the next execution. */
function reordered(wire: readonly Envelope[], delays: readonly number[]): Envelope[] {
  const ends = new Map<string, number>();
  for (const [i, { execution_id }] of wire.entries()) ends.set(execution_id, i);
  const order = [...ends.keys()];
  return wire
    .map((envelope, i) => {
      const next = order[order.indexOf(envelope.execution_id) + 1];
      const most = (next === undefined ? undefined : ends.get(next)) ?? Number.POSITIVE_INFINITY;
      // executions start in order; only later envelopes are delayed
      const delay = envelope.seq === 1 ? 0 : (delays[i % delays.length] ?? 0);
      return { envelope, at: Math.min(i + delay, most - 1.5), i };
    })
    .toSorted((a, b) => a.at - b.at || a.i - b.i)
    .map(({ envelope }) => envelope);
}

const delaysArb = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 40 });
const picksArb = fc.array(fc.nat(10_000), { maxLength: 40 });
const everyKind = sessionArb(['fail', 'again', 'tools', 'tools', 'final']);
const runs = { numRuns: Number(process.env['UI_RUNS'] ?? 100) };

describe('the state does not depend on the order of arrival', { timeout: 60_000 }, () => {
  it('shows the run if envelopes arrive in order', () => {
    fc.assert(
      fc.property(everyKind, (session) => {
        const run = play(session, 'standard');
        const state = watched(run, run.wire, reduceAll(run.wire));
        const shown = state.messages.map(({ role, content, metadata }) => {
          if (role === 'status') return 'status';
          if (role === 'tool')
            return `tool ${metadata.tool_call_id} ${metadata.tool_error === undefined ? 'ok' : 'error'}`;
          if (role === 'user') return `user ${content}`;
          return `assistant ${content}[${(metadata.tool_calls ?? []).map(({ id }) => id).join(' ')}]`;
        });
        expect(shown).toEqual(run.expected);
        expect(state.usage.total).toBe(run.usage);
        expect(state.gap).toBeNull();
        expect(state.approvals).toEqual([]);
      }),
      runs,
    );
  });

  it('D64: returns the same object for duplicates', () => {
    fc.assert(
      fc.property(everyKind, presetArb, picksArb, (session, preset, picks) => {
        const run = play(session, preset);
        let state = newUiState();
        for (const [i, envelope] of run.wire.entries()) {
          state = reduceEnvelope(state, envelope);
          const earlier = run.wire[(picks[i] ?? 0) % (i + 1)] ?? envelope;
          const again = [envelope, ...(earlier.type === 'agent.tool.delta' ? [] : [earlier])];
          if (again.reduce(reduceEnvelope, state) !== state) throw new Error('It changed.');
        }
        expect(screenOf(state)).toEqual(screenOf(reduceAll(run.wire)));
      }),
      runs,
    );
  });

  it('D63: replaying any suffix twice changes nothing', () => {
    fc.assert(
      fc.property(everyKind, presetArb, fc.nat(10_000), (session, preset, pick) => {
        const run = play(session, preset);
        const suffix = run.wire.slice(pick % run.wire.length);
        const truth = reduceAll(run.wire);
        const once = reduceAll(suffix, truth);
        expect(reduceAll(suffix, once)).toBe(truth);
      }),
      runs,
    );
  });

  it('D64: converges after reordering within a window, and never shows rows out of order', () => {
    fc.assert(
      fc.property(sessionArb(), presetArb, delaysArb, (session, preset, delays) => {
        const run = play(session, preset);
        const truth = reduceAll(run.wire);
        const state = watched(run, reordered(run.wire, delays), truth);
        expect(state.gap).toBeNull();
        expect(screenOf(state)).toEqual(screenOf(truth));
      }),
      runs,
    );
  });

  it('D63: converges after refills, whatever was lost, duplicated or late', () => {
    const lossy = fc.record({
      lost: picksArb,
      doubled: picksArb,
      delays: delaysArb,
      limit: fc.integer({ min: 1, max: 30 }),
      patience: fc.integer({ min: 1, max: 30 }),
    });
    fc.assert(
      fc.property(sessionArb(), presetArb, lossy, (session, preset, noise) => {
        const run = play(session, preset);
        const truth = reduceAll(run.wire);
        const places = placesOf(truth);
        const lost = new Set(noise.lost.map((pick) => pick % run.wire.length));
        const doubled = new Set(noise.doubled.map((pick) => pick % run.wire.length));
        const arrived = run.wire.flatMap((envelope, i) =>
          lost.has(i) && !isStart(envelope) ? [] : doubled.has(i) ? [envelope, envelope] : envelope,
        );
        let state = newUiState();
        for (const [i, envelope] of reordered(arrived, noise.delays).entries()) {
          state = reduceEnvelope(state, envelope);
          const problem = problemOf(run, places, state);
          if (problem !== null) throw new Error(problem);
          if (i % noise.patience === 0) state = repaired(run, state, noise.limit);
        }
        state = caughtUp(run, state, noise.limit);
        expect(screenOf(state)).toEqual(screenOf(truth));
        expect(caughtUp(run, state, noise.limit)).toBe(state);
      }),
      runs,
    );
  });

  it('converges for a client that connects during a run and reads the log', () => {
    fc.assert(
      fc.property(sessionArb(), presetArb, fc.nat(10_000), (session, preset, pick) => {
        const run = play(session.slice(-1), preset);
        const truth = reduceAll(run.wire);
        const state = reduceAll(run.wire.slice(pick % run.wire.length));
        expect(screenOf(caughtUp(run, state, 7))).toEqual(screenOf(truth));
      }),
      runs,
    );
  });

  it('D63: matches the stored conversation at any time without duplicates', () => {
    fc.assert(
      fc.property(sessionArb(), presetArb, fc.nat(10_000), (session, preset, pick) => {
        const run = play(session, preset);
        const truth = reduceAll(run.wire);
        const record = recordOf(truth);
        const agreed = reconcile(truth, record);
        expect(agreed.messages.filter(({ role }) => role !== 'status').map(({ id }) => id)).toEqual(
          record.map(({ id }) => id),
        );
        expect(reconcile(agreed, record)).toBe(agreed);
        expect(reduceAll(run.wire, agreed)).toBe(agreed);
        // the stream continues after a conversation that was read during the run
        const cut = pick % run.wire.length;
        const middle = reduceAll(run.wire.slice(0, cut));
        const mixed = reduceAll(run.wire.slice(cut), reconcile(middle, recordOf(middle)));
        expect(said(mixed)).toEqual(said(truth));
        // a page that loads at this time reads the newest log from its start
        const newest = middle.executionId;
        if (newest === null) return;
        const page = reduceRefill(newUiState(recordOf(middle)), refillOf(run, newest, 0));
        const loaded = caughtUp(run, reduceAll(run.wire.slice(cut), page), 7);
        expect(said(loaded)).toEqual(said(truth));
      }),
      runs,
    );
  });

  it('continues the same after a round trip through JSON', () => {
    fc.assert(
      fc.property(everyKind, presetArb, fc.nat(10_000), (session, preset, pick) => {
        const run = play(session, preset);
        const cut = pick % run.wire.length;
        const before = reduceAll(run.wire.slice(0, cut));
        const revived = JSON.parse(JSON.stringify(before)) as UiState;
        const { reducer: _, ...bare } = revived;
        const truth = screenOf(reduceAll(run.wire));
        expect(screenOf(reduceAll(run.wire.slice(cut), revived))).toEqual(truth);
        const { stop, status, usage } = reduceAll(run.wire.slice(cut), bare);
        expect({ stop, status, usage }).toEqual({
          stop: truth.stop,
          status: truth.status,
          usage: truth.usage,
        });
      }),
      runs,
    );
  });
});
