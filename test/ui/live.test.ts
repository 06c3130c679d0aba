import { describe, expect, it } from 'vitest';
import { cpuMs } from '../setup/cpu-time.ts';
import type { Envelope } from 'onward/broadcasting';
import { newUiState, reduceEnvelope, type UiMessage } from 'onward/ui';
import { Wire } from './wire.ts';
import { reduceAll, said, show } from './shown.ts';

describe('streamed text', () => {
  it('grows until the finished message replaces it under the same id', () => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.chunk('m1', 'We ');
    wire.chunk('m1', 'have 7.');
    const live = reduceAll(wire.all);
    expect(show(live)).toEqual(['user: Lamps?', 'assistant: We have 7.']);
    expect(live.messages[1]).toMatchObject({ id: 'm1', metadata: { streaming: true } });
    const done = reduceEnvelope(live, wire.message('m1', 'assistant', 'We have 7.', 1));
    expect(done.messages[1]).toMatchObject({ id: 'm1', content: 'We have 7.', metadata: {} });
    const late = wire.chunk('m1', 'late');
    expect(reduceEnvelope(done, late)).toBe(done);
  });

  it('is ordered by number, and a gap hides the rest', () => {
    const wire = new Wire().begin();
    const [a, b, c, d] = ['We ', 'have ', '7 ', 'lamps.'].map((text) => wire.chunk('m1', text));
    const begun = reduceAll(wire.all.slice(0, 2));
    expect(said(reduceAll([a!, c!, d!], begun))).toEqual(['user: Lamps?', 'assistant: We']);
    expect(said(reduceAll([c!, d!, a!, b!], begun))).toEqual([
      'user: Lamps?',
      'assistant: We have 7 lamps.',
    ]);
    expect(said(reduceAll([b!, c!], begun))).toEqual(['user: Lamps?']);
    const early = reduceAll([a!, c!], begun);
    expect(reduceEnvelope(early, c!)).toBe(early);
  });

  it('of a failed attempt disappears, and late chunks do not restore it', () => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.chunk('m1', 'Let ');
    const late = wire.chunk('m1', 'me');
    wire.discarded(1);
    const without = reduceAll(wire.all.filter((envelope) => envelope !== late));
    expect(said(without)).toEqual(['user: Lamps?']);
    expect(reduceEnvelope(without, late)).toBe(without);
    wire.step(2);
    wire.chunk('m2', 'All good.', 2, 2);
    expect(said(reduceAll(wire.all))).toEqual(['user: Lamps?', 'assistant: All good.']);
  });

  it('restarts when a hook calls the model again within an attempt', () => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.chunk('m1', 'Void');
    wire.discarded(1);
    wire.chunk('m1', 'Better ');
    wire.chunk('m1', 'words.');
    expect(said(reduceAll(wire.all))).toEqual(['user: Lamps?', 'assistant: Better words.']);
  });

  it('from before a crash disappears when the step restarts', () => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.chunk('m1', 'Half an ans');
    wire.step(1);
    expect(said(reduceAll(wire.all))).toEqual(['user: Lamps?']);
    const again = wire.send('agent.stream.chunk', {
      message_id: 'm2',
      step: 1,
      attempt: 1,
      chunk_index: 0,
      content: 'A whole one.',
      is_complete: false,
    });
    expect(again.type).toBe('agent.stream.chunk');
    expect(said(reduceAll(wire.all))).toEqual(['user: Lamps?', 'assistant: A whole one.']);
  });

  it('of steps before a stop stays hidden after a grant', () => {
    const wire = new Wire().begin();
    wire.step(1);
    const late = wire.chunk('m1', 'Late');
    wire.stepDone(1);
    wire.status('stopped', { stop_reason: 'steps_limit', stop_message: 'At the limit.' });
    wire.status('processing');
    const state = reduceAll(wire.all.filter((envelope) => envelope !== late));
    expect(reduceEnvelope(state, late)).toBe(state);
  });

  it('of an earlier step or of a known message changes nothing', () => {
    const wire = new Wire().begin();
    wire.chunk('m1', 'Old ', 1);
    wire.chunk('m2', 'New', 2);
    const state = reduceAll(wire.all);
    expect(said(state)).toEqual(['user: Lamps?', 'assistant: New']);
    expect(reduceEnvelope(state, wire.chunk('m1', 'words', 1))).toBe(state);
    const row: UiMessage = {
      id: 'm2',
      role: 'assistant',
      content: 'New.',
      timestamp: 't',
      metadata: {},
    };
    const loaded = reduceAll(wire.all.slice(0, 2), newUiState([row]));
    expect(reduceAll(wire.all.slice(3, 4), loaded)).toBe(loaded);
  });

  it('does not change with an empty last chunk', () => {
    const wire = new Wire().begin();
    wire.chunk('m1', 'Hi.');
    const state = reduceAll(wire.all);
    expect(reduceEnvelope(state, wire.chunk('m1', ''))).toBe(state);
  });
});

describe('a worker that stops answering', () => {
  const frozen = () => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.chunk('m', 'Once ');
    return wire;
  };
  const isLost = (wire: Wire): boolean | undefined => reduceAll(wire.all).isWorkerLost;
  const lastOf = (wire: Wire): string | undefined => reduceAll(wire.all).messages.at(-1)?.content;

  it('shows below the unfinished text, until the session has a worker again', () => {
    const wire = frozen();
    expect([isLost(wire), lastOf(wire)]).toEqual([false, 'Once ']);
    wire.send('agent.worker', { status: 'lost' });
    wire.send('agent.worker', { status: 'lost' });
    expect([isLost(wire), lastOf(wire)]).toEqual([
      true,
      expect.stringContaining('stopped answering'),
    ]);
    expect(reduceAll(wire.all).messages.at(-2)?.content).toBe('Once ');
    wire.send('agent.worker', { status: 'found' });
    expect([isLost(wire), lastOf(wire)]).toEqual([false, 'Once ']);
  });

  it('is over with the next entry of the log, and is no matter of other runs or sessions', () => {
    const wire = frozen();
    wire.send('agent.worker', { status: 'lost' }, { execution_id: 'x0' });
    wire.send('agent.worker', { status: 'lost' }, { session_id: 'other' });
    expect(isLost(wire)).toBe(false);
    wire.send('agent.worker', { status: 'lost' });
    wire.send('agent.stream.discarded', { step: 1, attempt: 1 });
    expect(isLost(wire)).toBe(false);
    wire.send('agent.worker', { status: 'lost' });
    wire.status('completed');
    expect(isLost(wire)).toBe(false);
    expect(reduceAll(wire.all).ignored).toBe(0);
  });
});

describe('D66: streamed arguments', () => {
  it('grow on a pending call until the started call replaces it', () => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.delta('c1', '{"article":');
    wire.delta('c1', '"la');
    const live = reduceAll(wire.all);
    expect(said(live)).toEqual(['user: Lamps?', 'assistant:  [c1 "{\\"article\\":\\"la"]']);
    expect(live.messages[1]?.metadata.tool_calls?.[0]?.partial).toBe(true);
    const last = live.messages[1]?.id;
    const started = reduceEnvelope(live, wire.toolStarted('c1'));
    expect(started.messages[1]).toMatchObject({
      id: last,
      metadata: {
        tool_calls: [{ id: 'c1', name: 'stock', args: null, args_summary: '{"article":"lamp"}' }],
      },
    });
    expect(started.messages[1]?.metadata.tool_calls?.[0]?.partial).toBeUndefined();
    expect(reduceEnvelope(started, wire.delta('c1', 'late'))).toBe(started);
  });

  it('are shown on the message with their text', () => {
    const wire = new Wire().begin();
    wire.chunk('m1', 'Let me look.');
    wire.delta('c1', '{}');
    expect(said(reduceAll(wire.all))).toEqual([
      'user: Lamps?',
      'assistant: Let me look. [c1 "{}"]',
    ]);
  });

  it('ignore duplicates, are ordered by time, and are hidden without their start', () => {
    const wire = new Wire().begin();
    const [a, b, c] = ['{"n":', '1', '}'].map((text) => wire.delta('c1', text));
    const begun = reduceAll(wire.all.slice(0, 2));
    const text = (envelopes: Envelope[]) =>
      reduceAll(envelopes, begun).messages.at(1)?.metadata.tool_calls?.[0]?.args;
    expect(text([a!, b!, a!, b!, c!, b!])).toBe('{"n":1}');
    expect(text([a!, c!, b!])).toBe('{"n":1}');
    expect(text([b!, c!])).toBe('');
    const whole = { ...c!, payload: { tool_call_id: 'c1', args_delta: '{"n":1' } } as Envelope;
    expect(text([a!, b!, whole])).toBe('{"n":1');
  });

  it('of an ended run are not mixed with a call of the next run with the same id', () => {
    const first = new Wire('x1').begin();
    const late = first.delta('c1', '{"old":1}');
    first.status('completed', { stop_reason: 'completed' });
    const second = new Wire('x2', first.time).begin('More?');
    second.delta('c1', '{"new":1}');
    const state = reduceAll([...first.all, ...second.all]);
    expect(reduceEnvelope(state, late)).toBe(state);
  });

  it('of a failed attempt disappear with the next step', () => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.delta('dead', '{"n":');
    wire.step(2);
    expect(said(reduceAll(wire.all))).toEqual(['user: Lamps?']);
  });
});

it('a chunk in a long conversation changes only its own row and takes constant time', () => {
  const history = Array.from({ length: 500 }, (_, i): UiMessage => ({
    id: `h${i}`,
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: 'x'.repeat(1_000),
    timestamp: 't',
    metadata: {},
  }));
  const wire = new Wire().begin();
  for (let i = 0; i < 10_000; i++) wire.chunk('m1', 'word ');
  let state = newUiState(history);
  // about 0.1 s
  expect(cpuMs(() => void (state = reduceAll(wire.all, state)))).toBeLessThan(2_000);
  expect(state.messages.at(-1)?.content).toHaveLength(50_000);
  // a text without its start is not buffered
  const lost = reduceAll(wire.all.toSpliced(2, 1), newUiState());
  expect(JSON.stringify(lost).length).toBeLessThan(10_000);
  expect(state.messages.slice(0, 500).every((row, i) => row === history[i])).toBe(true);
});
