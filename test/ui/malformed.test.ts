import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Envelope, Refill } from 'onward/broadcasting';
import {
  newUiState,
  reconcile,
  reduceEnvelope,
  reduceRefill,
  shouldRenderAssistantContent,
  skipGap,
  stopText,
  withUserMessage,
  type UiMessage,
  type UiState,
} from 'onward/ui';
import { reduceAll, said } from './shown.ts';
import { Wire } from './wire.ts';

/** A run with every envelope type, including nested agents and an approval. */
function wholeRun(): readonly Envelope[] {
  const wire = new Wire().begin();
  wire.step(1);
  wire.chunk('m1', 'We ');
  wire.delta('c1', '{"a":');
  wire.chunk('m1', 'have');
  wire.discarded(1, 1);
  wire.chunk('m1', 'We have', 1, 2);
  wire.message('m1', 'assistant', 'We have', 1);
  wire.toolStarted('c1');
  wire.step(1, { agent_id: 'nested', parent_agent_id: 'root' });
  wire.message('n1', 'assistant', 'inside', 1);
  wire.approval('c2', { agent_id: 'nested', parent_agent_id: 'root' });
  wire.toolStarted('c2', 'pay', '{}', { agent_id: 'nested', parent_agent_id: 'root' });
  wire.toolDone('c2', 'paid', null, { agent_id: 'nested', parent_agent_id: 'root' });
  wire.toolDone('c1');
  wire.approval('c3');
  wire.stepDone(1);
  wire.send('agent.continuation', {
    step: 1,
    should_continue: false,
    stop_reason: null,
    resolved_by: 'x',
    evaluations: [],
  });
  wire.status('stopped', {
    stop_reason: 'steps_limit',
    stop_message: 'The limit was reached.',
    resolved_by: 'StepsLimit',
    remedy: { text: 'grant more', option: 'maxSteps' },
    error_message: null,
    last_response: 'We have',
  });
  return wire.all;
}
const run = wholeRun();
const truth = reduceAll(run);
const numbered = run.filter(({ seq }) => seq !== null);

function cyclic(): object {
  const value: Record<string, unknown> = { a: 1 };
  value['self'] = [value, value];
  return value;
}
function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = i % 2 ? [value] : { a: value };
  return value;
}
const throwing = (): object =>
  new Proxy(
    {},
    {
      get: () => {
        throw new Error('trap');
      },
      has: () => true,
      ownKeys: () => {
        throw new Error('trap');
      },
    },
  );

/** Values that no field of an envelope expects. */
const odd: readonly (readonly [string, () => unknown])[] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['NaN', () => Number.NaN],
  ['Infinity', () => Number.POSITIVE_INFINITY],
  ['-1', () => -1],
  ['1.5', () => 1.5],
  ['1e300', () => 1e300],
  ['2^53', () => 2 ** 53],
  ['true', () => true],
  ['a bigint', () => 10n],
  ['a symbol', () => Symbol('x')],
  ['a function', () => () => 'x'],
  ['a list', () => [1, [2]]],
  ['an empty object', () => ({})],
  ['no prototype', () => Object.create(null) as object],
  [
    'own __proto__',
    () => JSON.parse('{"__proto__":{"status":"failed"},"constructor":1}') as object,
  ],
  ['a truncated value without a ref', () => ({ summary: 'x' })],
  ['a truncated value with numbers', () => ({ summary: 1, ref: 2 })],
  ['a cycle', cyclic],
  ['10,000 levels', () => deep(10_000)],
  ['10 MB', () => 'x'.repeat(10_000_000)],
  ['a trap', throwing],
  ['a date', () => new Date(0)],
  ['empty text', () => ''],
  ['__proto__', () => '__proto__'],
  ['constructor', () => 'constructor'],
  ['toString', () => 'toString'],
  ['hasOwnProperty', () => 'hasOwnProperty'],
  ['a lone surrogate', () => '\ud800'],
  ['control characters', () => '\u0000\u202e\u001b[2J'],
];

const fieldsOf = (envelope: Envelope): readonly (readonly [string, string | null])[] => [
  ...Object.keys(envelope).map((name) => [name, null] as const),
  ['parent_agent_id', null],
  ...Object.keys(envelope.payload).map((name) => ['payload', name] as const),
];

/** Returns a copy with one changed field. */
function spoilt(
  envelope: Envelope,
  [head, field]: readonly [string, string | null],
  value: unknown,
) {
  const payload = field === null ? envelope.payload : { ...envelope.payload, [field]: value };
  return { ...envelope, payload, ...(field === null && { [head]: value }) } as Envelope;
}

/** Reads a state like a UI. */
function drawn(state: UiState): void {
  for (const message of state.messages) {
    expect(typeof message.id).toBe('string');
    expect(typeof message.content).toBe('string');
    expect(message.content.length).toBeLessThanOrEqual(2_000_002);
    shouldRenderAssistantContent(message);
    JSON.stringify(message);
  }
  for (const { tool, tool_call_id } of state.approvals)
    expect([typeof tool, typeof tool_call_id]).toEqual(['string', 'string']);
  if (state.stop) {
    const { title, reason } = stopText(state.stop);
    expect([typeof title, typeof reason]).toEqual(['string', 'string']);
  }
}

describe('an envelope with one invalid field', () => {
  const types = [...new Map(run.map((envelope) => [envelope.type, envelope])).values()];
  it.each(types.map((envelope) => [envelope.type, envelope] as const))(
    'of type %s never throws, and the rest of the run is shown',
    (_type, envelope) => {
      const at = run.indexOf(envelope);
      const before = reduceAll(run.slice(0, at));
      for (const field of fieldsOf(envelope))
        for (const [name, make] of odd) {
          const what = `${field.join('.')} = ${name}`;
          const bad = spoilt(envelope, field, make());
          drawn(reduceEnvelope(newUiState(), bad));
          const after = reduceEnvelope(before, bad);
          drawn(after);
          // later envelopes and a page of the log complete the state
          const rest = reduceAll(run.slice(at + 1), after);
          expect(rest.status === 'stopped' || rest.gap !== null || rest === after, what).toBe(true);
          const end = reduceRefill(rest, refill(numbered));
          drawn(end);
          const isUnused = after.messages === before.messages && isSamePlace(after, before);
          if (isUnused && after.ignored === 1) expect(said(end), what).toEqual(said(truth));
        }
    },
    60_000,
  );
});

const isSamePlace = (a: UiState, b: UiState): boolean =>
  a.place?.executionId === b.place?.executionId && a.place?.after === b.place?.after;

const refill = (envelopes: readonly unknown[], more: object = {}): Refill =>
  ({
    session_id: 's1',
    execution_id: 'x1',
    envelopes,
    seq: 18,
    more: false,
    ...more,
  }) as Refill;

describe('invalid envelopes', () => {
  it.each(odd.map(([name, make]) => [name, make] as const))(
    'are ignored and counted: %s',
    (_n, make) => {
      const half = reduceAll(run.slice(0, 9));
      const after = reduceEnvelope(half, make() as Envelope);
      expect(after.ignored).toBe(1);
      expect({ ...after, ignored: 0, reducer: null }).toEqual({ ...half, reducer: null });
      const end = reduceAll(run.slice(9), after);
      expect(end.messages).toEqual(truth.messages);
      expect(end.ignored).toBe(1);
    },
  );

  it('among valid ones are all counted and do not change the messages', () => {
    const junk = fc.oneof(
      fc.anything(),
      fc.record(
        {
          type: fc.constantFrom('agent.status', 'agent.message', '__proto__', 'agent.tool.started'),
          session_id: fc.constantFrom('s1', 's2', 1),
          execution_id: fc.constantFrom('x1', '__proto__', null),
          agent_id: fc.anything(),
          seq: fc.constantFrom(-1, 0, Number.NaN, 0.5, '1', undefined),
          payload: fc.anything(),
        },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(run.length), junk), { maxLength: 20 }), (bad) => {
        const wire: unknown[] = [...run];
        for (const [at, value] of bad) wire.splice(at, 0, value);
        const state = reduceAll(wire as Envelope[]);
        expect(state.messages).toEqual(truth.messages);
        expect(state.status).toBe('stopped');
        expect(state.ignored).toBe(bad.length);
      }),
      { numRuns: 300 },
    );
  });

  it('of an unknown type show nothing and leave no gap', () => {
    const wire = new Wire().begin();
    wire.send('agent.future' as 'agent.continuation', {} as never);
    wire.message('m1', 'assistant', 'Hello', 1);
    const state = reduceAll(wire.all);
    expect(said(state)).toEqual(['user: Lamps?', 'assistant: Hello']);
    expect([state.gap, state.ignored]).toEqual([null, 1]);
  });
});

describe('D90: ids and names of inherited properties', () => {
  const names = ['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty'];
  it.each(names)('work for executions, agents, messages, calls and tools: %s', (name) => {
    const wire = new Wire(name);
    const from = { agent_id: name };
    const inside = { agent_id: name, parent_agent_id: 'root' };
    wire.begin();
    wire.step(1, from);
    wire.chunk(name, 'We ', 1, 1, from);
    wire.chunk(name, 'have', 1, 1, from);
    expect(said(reduceAll(wire.all))).toEqual(['user: Lamps?', 'assistant: We have']);
    wire.message(name, 'assistant', 'We have', 1);
    wire.delta(name, '{"a":1}');
    wire.toolStarted(name, name, '{"a":1}');
    wire.step(1, inside);
    wire.chunk('n', 'inside', 1, 1, inside);
    wire.approval(name, { ...inside });
    wire.toolDone(name, name);
    wire.stepDone(1, 15, from);
    const again = reduceAll(wire.all, JSON.parse(JSON.stringify(reduceAll(wire.all.slice(0, 7)))));
    wire.status('completed');
    const state = reduceAll(wire.all);
    expect(said(state)).toEqual([
      'user: Lamps?',
      `assistant: We have [${name} null]`,
      `tool: ${name}`,
    ]);
    expect([state.executionId, state.status, state.ignored]).toEqual([name, 'completed', 0]);
    expect(said(reduceAll(wire.all.slice(-1), again))).toEqual(said(state));
    const next = new Wire('x2', wire.time).begin('More?');
    const both = reduceAll(next.all, state);
    expect([both.executionId, both.gap]).toEqual(['x2', null]);
    expect(reduceAll(wire.all, both)).toBe(both);
    expect(({} as Record<string, unknown>)['status']).toBeUndefined();
  });
});

describe('pages of the log', () => {
  it.each(odd.map(([name, make]) => [name, make] as const))(
    'accept %s in any field',
    (_name, make) => {
      for (const field of ['session_id', 'execution_id', 'envelopes', 'seq', 'more'])
        drawn(reduceRefill(truth, refill(numbered, { [field]: make() })));
      drawn(reduceRefill(truth, make() as Refill));
      const state = reduceRefill(newUiState(), refill([make(), ...numbered, make()]));
      expect(said(state)).toEqual(said(truth));
      expect(state.ignored).toBe(2);
    },
  );

  it('hide an envelope of another session', () => {
    const foreign = { ...run[1], session_id: 's2', seq: 2 } as Envelope;
    const state = reduceRefill(newUiState(), refill([run[0], foreign]));
    expect(said(state)).toEqual([]);
  });
});

describe('a conversation of the server', () => {
  it.each(odd.map(([name, make]) => [name, make] as const))(
    'accepts %s in any field',
    (_name, make) => {
      const good: UiMessage = {
        id: 'u1',
        role: 'user',
        content: 'Hi',
        timestamp: '2026-01-16T12:00:00.000Z',
        metadata: {},
      };
      const bad = (['id', 'role', 'content', 'timestamp', 'metadata'] as const).map((name, i) => ({
        ...good,
        id: `b${i}`,
        [name]: make(),
      }));
      const metadata = [
        'tool_calls',
        'tool_result',
        'tool_error',
        'tool_error_code',
        'status_type',
        'continuation',
        'tool_call_id',
      ].map((name, i) => ({ ...good, id: `m${i}`, metadata: { [name]: make() } }));
      const list = [make(), good, ...bad, ...metadata] as UiMessage[];
      for (const state of [
        newUiState(list),
        reconcile(newUiState(), list),
        reconcile(truth, list),
      ]) {
        drawn(state);
        expect(state.messages.some(({ id }) => id === 'u1')).toBe(true);
        expect(state.ignored).toBeGreaterThan(0);
        drawn(reduceAll(run, state));
        drawn(skipGap(withUserMessage(state, 'more')));
      }
      drawn(reconcile(truth, make() as UiMessage[]));
    },
  );
});

it('limits texts and arguments of many chunks', () => {
  const wire = new Wire().begin();
  wire.step(1);
  const piece = 'x'.repeat(400_000);
  for (let i = 0; i < 20; i++) {
    wire.chunk('m1', piece);
    wire.delta('c1', i === 0 ? `{"a":"${piece}` : piece);
  }
  const [, row] = reduceAll(wire.all).messages;
  expect(row!.content.length).toBeLessThan(2_000_000);
  wire.message('m1', 'assistant', piece.repeat(20), 1);
  expect(reduceAll(wire.all).messages[1]!.content.length).toBe(1_000_001);
});

it('continues a state of release 0.1.0, which has no count', () => {
  const { ignored: _, ...old } = JSON.parse(JSON.stringify(reduceAll(run.slice(0, 6)))) as UiState;
  const state = reduceEnvelope(old, null as never);
  expect(state.ignored).toBe(1);
  expect(said(reduceAll(run.slice(6), state))).toEqual(said(reduceAll(run.slice(6), old)));
});
