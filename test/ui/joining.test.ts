import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Envelope } from 'onward/broadcasting';
import { newUiState, reduceEnvelope, reduceRefill, type UiState } from 'onward/ui';
import { play, type ModelRun } from './run-model.ts';
import { refillAt } from './run-refill.ts';
import { presetArb, sessionArb, type Preset } from './run-specs.ts';

const everyKind = sessionArb(['fail', 'again', 'tools', 'tools', 'final', 'final']);
/** Presets that stream text; `debug` also streams reasoning. */
const anyText = fc.constantFrom<Preset>('standard', 'debug');
const runs = { numRuns: Number(process.env['UI_RUNS'] ?? 100) };

/** Returns the visible unfinished texts, reasoning and arguments. */
const unfinishedTexts = ({ messages }: UiState): string[] =>
  messages.flatMap(({ content, metadata }) => [
    ...(metadata.streaming && metadata.reasoning ? [metadata.reasoning] : []),
    ...(metadata.streaming && content !== '' ? [content] : []),
    ...(metadata.tool_calls ?? []).flatMap(({ partial, args }) =>
      partial && typeof args === 'string' && args !== '' ? [args] : [],
    ),
  ]);

/** Returns the state of a client that got every envelope so far. */
const reportedTo = (run: ModelRun, sent: number): UiState =>
  run.wire.slice(0, sent).reduce(reduceEnvelope, newUiState());

/** Checks that every visible text is a prefix of the real one. */
function problemOf(run: ModelRun, state: UiState): string | null {
  for (const text of unfinishedTexts(state)) {
    const isArgs = text.startsWith('{"n":');
    if (!isArgs && !run.texts.some((whole) => whole.startsWith(text)))
      return `"${text}" is no prefix of a text`;
    if (isArgs && !/^\{"n":("[^"]*"\}?)?$/.test(text)) return `${text} has a gap`;
  }
  const ids = state.messages.map(({ id }) => id);
  return new Set(ids).size === ids.length ? null : `twice in ${ids.join(' ')}`;
}

/** Reads the gaps, the rest of the log and the unfinished texts, like a page. */
function asked(
  run: ModelRun,
  state: UiState,
  sent: number,
  options: { readonly limit?: number; readonly isElsewhere?: boolean },
): UiState {
  let next = state;
  for (let count = 0; count < 2_000; count++) {
    const place = next.gap ?? next.place;
    const refill = refillAt(run, sent, place?.executionId ?? null, place?.after ?? 0, options);
    next = reduceRefill(next, refill);
    const newest = run.wire[sent - 1]?.execution_id;
    if (next.gap || refill.more) continue;
    if (newest === undefined || next.executionId === newest) return next;
    next = reduceRefill(next, refillAt(run, sent, null, 0, options));
  }
  throw new Error('It requests forever.');
}

const isStart = (envelope: Envelope): boolean =>
  envelope.type === 'agent.status' && envelope.payload.status === 'processing';

describe('a client that connects during an answer', { timeout: 60_000 }, () => {
  it('shows the same as a client that got everything', () => {
    fc.assert(
      fc.property(everyKind, anyText, fc.nat(10_000), fc.nat(20), (session, preset, pick, late) => {
        const run = play(session.slice(-1), preset);
        const joins = pick % run.wire.length;
        // it connects first and gets the refill later
        const answered = Math.min(run.wire.length, joins + late);
        let state = newUiState();
        for (let sent = joins; sent <= run.wire.length; sent++) {
          const envelope = run.wire[sent - 1];
          if (sent > joins && envelope) state = reduceEnvelope(state, envelope);
          if (sent === answered) state = asked(run, state, sent, {});
          const problem = problemOf(run, state);
          if (problem !== null) throw new Error(problem);
          if (sent < answered) continue;
          const [shown = [], truth = []] = [state, reportedTo(run, sent)].map((screen) =>
            unfinishedTexts(screen).filter((text) => !/dead|^\{"n":$/.test(text)),
          );
          if (shown.join('|') !== truth.join('|'))
            throw new Error(`${shown.join('|')} instead of ${truth.join('|')}`);
          if (state.textGap !== null && !state.textGap.startsWith('dead'))
            throw new Error(`${state.textGap} is incomplete`);
        }
        expect(state.messages).toEqual(reportedTo(run, run.wire.length).messages);
      }),
      runs,
    );
  });

  it('shows only prefixes and the same end, whatever is lost, duplicated or late', () => {
    const noise = fc.record({
      joins: fc.nat(10_000),
      lost: fc.array(fc.nat(10_000), { maxLength: 60 }),
      doubled: fc.array(fc.nat(10_000), { maxLength: 20 }),
      delays: fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 20 }),
      asks: fc.integer({ min: 1, max: 15 }),
      limit: fc.integer({ min: 1, max: 30 }),
      isElsewhere: fc.boolean(),
    });
    fc.assert(
      fc.property(everyKind, presetArb, noise, (session, preset, how) => {
        const run = play(session.slice(-1), preset);
        const { length } = run.wire;
        const lost = new Set(how.lost.map((pick) => pick % length));
        const doubled = new Set(how.doubled.map((pick) => pick % length));
        // a start is never late, because executions have no number
        const arrivals = run.wire
          .flatMap((envelope, i) => {
            const late = isStart(envelope) ? 0 : (how.delays[i % how.delays.length] ?? 0);
            const copy = { envelope, at: i + late, i };
            if (lost.has(i) && !isStart(envelope)) return [];
            return doubled.has(i) ? [copy, { ...copy, at: copy.at + 3 }] : [copy];
          })
          .filter(({ i }) => i >= how.joins % length)
          .toSorted((a, b) => a.at - b.at || a.i - b.i);
        let state = newUiState();
        const check = (): void => {
          const problem = problemOf(run, state);
          if (problem !== null) throw new Error(problem);
        };
        for (const [n, { envelope, at }] of arrivals.entries()) {
          state = reduceEnvelope(state, envelope);
          check();
          if (n % how.asks > 0) continue;
          const sent = Math.min(length, at + 1);
          state = asked(run, state, sent, how);
          check();
          // a refill of the worker has all unfinished texts
          if (how.isElsewhere || preset === 'minimal' || preset === 'noSteps') continue;
          const shown = unfinishedTexts(state);
          // arguments of an attempt that failed at the same time may still be visible
          for (const text of unfinishedTexts(reportedTo(run, sent)))
            if (!shown.includes(text) && !text.includes('dead'))
              throw new Error(`${shown.join('|')} lacks ${text}`);
        }
        state = asked(run, state, length, how);
        check();
        const { messages, status, usage } = reportedTo(run, length);
        expect({ messages: state.messages, status: state.status, usage: state.usage }).toEqual({
          messages,
          status,
          usage,
        });
      }),
      runs,
    );
  });

  it('joins chunks of any size with those of a refill', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(sizes, sizes, fc.nat(100), fc.nat(1_000), (live, other, cut, seed) => {
        const text = Array.from({ length: 60 }, (_c, i) =>
          String.fromCodePoint(97 + (i % 26)),
        ).join('');
        const piecesOf = (lengths: readonly number[]): Envelope[] => {
          const pieces: Envelope[] = [];
          for (let offset = 0, i = 0; offset < text.length; i++) {
            const content = text.slice(offset, offset + (lengths[i % lengths.length] ?? 1));
            pieces.push(piece(content, offset, i));
            offset += content.length;
          }
          return pieces;
        };
        const known = text.slice(0, cut % text.length);
        const wire = [
          ...piecesOf(live),
          ...piecesOf(other),
          ...(known === '' ? [] : [piece(known, 0, 99)]),
        ].toSorted((a, b) => hash(a, seed) - hash(b, seed));
        let state = reduceEnvelope(newUiState(), started);
        for (const envelope of wire) {
          state = reduceEnvelope(state, envelope);
          const shown = unfinishedTexts(state)[0] ?? '';
          if (!text.startsWith(shown)) throw new Error(shown);
        }
        expect(unfinishedTexts(state)).toEqual([text]);
      }),
      runs,
    );
  });
});

it('keeps a restarted text if chunks of the first one arrive late', () => {
  const again = (envelope: Envelope): Envelope =>
    ({ ...envelope, payload: { ...envelope.payload, restart: 1 } }) as Envelope;
  // the discard is lost, and all envelopes have the same time
  const wire = [started, piece('Vo', 0, 0), again(piece('Hel', 0, 2)), piece('id', 2, 1)];
  const state = wire.reduce(reduceEnvelope, newUiState());
  expect(unfinishedTexts(state)).toEqual(['Hel']);
  expect(unfinishedTexts(reduceEnvelope(state, again(piece('lo', 3, 3))))).toEqual(['Hello']);
});

const head = {
  session_id: 's1',
  execution_id: 'x1',
  agent_id: 'a1',
  timestamp: '2026-01-16T12:00:00.000Z',
} as const;
const started: Envelope = {
  ...head,
  type: 'agent.status',
  seq: 1,
  prev: 0,
  payload: { status: 'processing', previous_status: 'idle', step_count: 0 },
};
const piece = (content: string, offset: number, chunk_index: number): Envelope => ({
  ...head,
  type: 'agent.stream.chunk',
  seq: null,
  prev: null,
  payload: {
    message_id: 'm1',
    step: 1,
    attempt: 1,
    chunk_index,
    content,
    offset,
    is_complete: false,
  },
});

/** Sort key for a pseudorandom order. */
const hash = (envelope: Envelope, seed: number): number =>
  [...JSON.stringify(envelope.payload)].reduce(
    (sum, char) => (sum * 31 + (char.codePointAt(0) ?? 0) + seed) % 10_007,
    7,
  );
