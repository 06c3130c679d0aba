import { describe, expect, it } from 'vitest';
import { newUiState, reconcile, reduceEnvelope, type UiMessage } from 'onward/ui';
import { Wire } from './wire.ts';
import { reduceAll, said } from './shown.ts';

describe('the conversation of the server', () => {
  const canonical: UiMessage[] = [
    { id: 'x1-user', role: 'user', content: 'Lamps?', timestamp: 't', metadata: {} },
    {
      id: 'm1',
      role: 'assistant',
      content: '',
      timestamp: 't',
      metadata: {
        tool_calls: [
          {
            id: 'c1',
            name: 'stock',
            args: { article: 'lamp' },
            args_summary: '{"article":"lamp"}',
          },
        ],
      },
    },
    {
      id: 'm2',
      role: 'tool',
      content: '{"pieces":7}',
      timestamp: 't',
      metadata: { tool_call_id: 'c1', tool_name: 'stock', tool_result: { pieces: 7 } },
    },
  ];
  const run = () => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.toolStarted('c1');
    wire.toolDone('c1');
    wire.stepDone(1);
    wire.step(2);
    return wire;
  };

  it('D63: is not duplicated by the log of a run that was loaded halfway', () => {
    for (const length of [1, 2, 3]) {
      const state = reduceAll(run().all, newUiState(canonical.slice(0, length)));
      expect(said(state)).toHaveLength(3);
      expect(state.messages.slice(0, length).map(({ id }) => id)).toEqual(
        canonical.slice(0, length).map(({ id }) => id),
      );
    }
    const [, , result] = reduceAll(run().all, newUiState(canonical)).messages;
    expect(result).toMatchObject({ id: 'm2', metadata: { tool_duration_ms: 12 } });
  });

  it('can be reconciled with a state, which then continues', () => {
    const wire = run();
    wire.chunk('m3', 'We have', 2);
    const state = reconcile(reduceAll(wire.all), canonical);
    expect(state.messages.map(({ id }) => id)).toEqual(['x1-user', 'm1', 'm2', 'm3']);
    expect(reconcile(state, canonical)).toBe(state);
    expect(reduceAll(wire.all, state)).toBe(state);
    const done = reduceEnvelope(state, wire.message('m3', 'assistant', 'We have 7.', 2));
    expect(done.messages.map(({ id }) => id)).toEqual(['x1-user', 'm1', 'm2', 'm3']);
    expect(done.messages[1]).toBe(state.messages[1]);
  });

  it('can replace the messages of a state, which then continues', () => {
    const wire = run();
    const state = reduceAll(wire.all);
    const changed = { ...state, messages: reconcile(state.messages, canonical) };
    const next = reduceEnvelope(changed, wire.message('m3', 'assistant', 'We have 7.', 2));
    expect(next.messages.map(({ id }) => id)).toEqual(['x1-user', 'm1', 'm2', 'm3']);
  });
});

it('the reducer does not mutate states and gives the same result twice', () => {
  const freeze = <T>(value: T): T => {
    if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
      Object.freeze(value);
      for (const inner of Object.values(value)) freeze(inner);
    }
    return value;
  };
  const wire = new Wire().begin();
  wire.step(1);
  wire.chunk('m1', 'a');
  wire.delta('c1', '{');
  wire.delta('c1', '}');
  wire.toolStarted('c1');
  wire.toolDone('c1');
  wire.approval('c2');
  wire.status('paused');
  let state = freeze(newUiState());
  for (const envelope of wire.all) {
    const next = reduceEnvelope(state, freeze(envelope));
    expect(reduceEnvelope(state, envelope)).toEqual(next);
    state = freeze(next);
  }
});
