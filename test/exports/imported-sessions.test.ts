import { AgentError, type SessionRuntime } from 'onward';
import { exportLine, exportSession, importSession } from 'onward/exports';
import { describe, expect, it } from 'vitest';
import { IMPORTED_REQUIRES } from '../../src/sessions/imported-session.ts';
import { sessionOperator } from '../../src/sessions/session-operator.ts';
import { leakIn, planted } from '../setup/canary.ts';
import { exportedCases, played } from '../setup/exported-sessions.ts';
import { stores } from '../setup/four-stores.ts';
import { secretiveParent } from '../setup/secretive-agents.ts';
import { ann, memoryPlace, refusal, runtimeOn, waiting } from '../setup/sessions.ts';

const waits = exportedCases.find(({ name }) => name === 'a call that needs approval')!;
const [turns] = exportedCases;

export async function linesOf(runtime: SessionRuntime, id: string, more = {}): Promise<string[]> {
  const lines: string[] = [];
  for await (const record of exportSession(runtime, id, { ...ann, ...more }))
    lines.push(exportLine(record));
  return lines;
}

describe.each(stores)('an imported session in a %s store', (name, open) => {
  it('is read-only: everything that would change it is refused with one code', async () => {
    const store = open();
    const runtime = runtimeOn(store, waits.agent());
    const source = await played(runtime, waits);
    const text = (await linesOf(runtime, source)).join('');
    const { id, pendingApprovals } = await importSession(runtime, text, {
      ...ann,
      id: `imported-${name}`,
    });
    const [call] = pendingApprovals;
    expect(call).toMatchObject({ tool: 'refund' });
    const before = await runtime.get(id, ann);
    const by = { ...ann, wait: false };
    const attempts: readonly (() => Promise<unknown>)[] = [
      () => runtime.send(id, 'more', by),
      () => runtime.send(id, 'more', { ...by, whenBusy: 'queue' }),
      () => runtime.resume(id, by),
      () => runtime.resume(id, { ...by, grant: { steps: 1 } }),
      () => runtime.approve(id, call!.callId, by),
      () => runtime.deny(id, call!.callId, { ...by, reason: 'no' }),
      () => runtime.approveAll(id, by),
      () => runtime.answer(id, 'question', { ...by, answer: { action: 'cancel' } }),
      () => runtime.revokeRule(id, 'rule', ann),
      () => runtime.pause(id, ann),
      () => runtime.stop(id, by),
      () => runtime.retry(id, by),
      () => runtime.fork(id, ann),
    ];
    for (const attempt of attempts)
      expect(await refusal(attempt), attempt.toString()).toMatchObject({ code: 'read_only' });
    expect(await runtime.get(id, ann)).toEqual(before);
    expect(await store.find(id)).toMatchObject({ phase: 'idle', requires: IMPORTED_REQUIRES });
    expect(await runtime.recover()).toBe(0);
    // it keeps its data, and never counts as work
    await runtime.prune({ olderThan: '2999-01-01T00:00:00.000Z' });
    expect((await runtime.events(id, ann)).events.length).toBeGreaterThan(0);
    expect((await store.workload()).agents.map(({ waiting: count }) => count)).not.toContain(1);
    await runtime.delete(id, ann);
    expect(await store.size(id)).toEqual({ rows: 0, bytes: 0 });
    expect((await runtime.approve(source, call!.callId, waiting)).executionId).not.toBeNull();
  });
});

describe('an import', () => {
  it('belongs to the owner who imports it', async () => {
    const runtime = runtimeOn(memoryPlace().open(), turns!.agent());
    const text = (await linesOf(runtime, await played(runtime, turns!))).join('');
    const { id } = await importSession(runtime, text, { owner: 'bob' });
    expect(await runtime.get(id, { owner: 'bob' })).toMatchObject({ owner: 'bob' });
    expect(await refusal(() => runtime.get(id, ann))).toMatchObject({ code: 'session_not_found' });
    expect(await refusal(() => linesOf(runtime, id))).toMatchObject({ code: 'session_not_found' });
  });

  it('reads a session of an agent that the runtime does not have', async () => {
    const runtime = runtimeOn(memoryPlace().open(), turns!.agent());
    const text = (await linesOf(runtime, await played(runtime, turns!))).join('');
    const other = runtimeOn(memoryPlace().open(), secretiveParent());
    const { id } = await importSession(other, text, ann);
    expect(await other.get(id, ann)).toMatchObject({ agent: 'shop', status: 'completed' });
    expect((await other.messages(id, ann)).items.length).toBeGreaterThan(3);
  });

  it('keeps a parked session as it was, without work for operators', async () => {
    const place = memoryPlace();
    const store = place.open();
    const runtime = runtimeOn(store, turns!.agent());
    const id = await played(runtime, turns!);
    await store.accept(
      id,
      { kind: 'message', executionId: 'e9', body: '{}', at: '2026-01-01T00:00:00.000Z' },
      { phases: ['idle'] },
    );
    const { token } = (await store.claim(id, { worker: 'w', ttlMs: 60_000 }))!;
    const at = '2026-01-02T00:00:00.000Z';
    await store.release(id, token, { kind: 'park', error: 'no disk', tries: 5, at });
    const parked = { phase: 'parked', status: 'failed', error: 'no disk', tries: 5, parkedAt: at };
    expect(await runtime.get(id, ann)).toMatchObject(parked);
    const imported = await importSession(runtime, (await linesOf(runtime, id)).join(''), ann);
    expect(imported).toMatchObject(parked);
    const { sessions } = await sessionOperator(runtime).parked();
    expect(sessions.map((session) => session.id)).toEqual([id]);
  });

  it('takes bytes in pieces of any size', async () => {
    const runtime = runtimeOn(memoryPlace().open(), turns!.agent());
    const id = await played(runtime, turns!);
    const bytes = new TextEncoder().encode((await linesOf(runtime, id)).join('') + '\n');
    async function* pieces(size: number) {
      for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
    }
    for (const size of [1, 977, bytes.length]) {
      const { id: copy } = await importSession(runtime, pieces(size), ann);
      expect(await runtime.messages(copy, ann)).toEqual(await runtime.messages(id, ann));
    }
  });
});

describe('secrets of an export', () => {
  it('are replaced in every record, unless they are asked for', async () => {
    const runtime = runtimeOn(memoryPlace().open(), secretiveParent());
    const { id } = await runtime.create({ ...ann, metadata: planted });
    await runtime.send(id, `Use ${JSON.stringify(planted)}`, waiting);
    const lines = await linesOf(runtime, id);
    expect(lines.length).toBeGreaterThan(20);
    expect(leakIn(lines.join(''))).toBeNull();
    expect(JSON.parse(lines[0]!)).toMatchObject({ isRedacted: true });
    const whole = await linesOf(runtime, id, { unredacted: true });
    expect(leakIn(whole.join(''))).not.toBeNull();
    expect(JSON.parse(whole[0]!)).toMatchObject({ isRedacted: false });
    expect(whole.length).toBe(lines.length);
  });

  it('never names the owner', async () => {
    const runtime = runtimeOn(memoryPlace().open(), turns!.agent());
    const owner = 'owner-of-this@example.test';
    const { id } = await runtime.create({ owner });
    await runtime.send(id, 'How many?', { owner, wait: true });
    expect((await linesOf(runtime, id, { owner })).join('')).not.toContain(owner);
  });
});

describe('a damaged or hostile export', () => {
  type Change = (lines: string[]) => string[] | string;
  const edited =
    (type: string, change: (record: never) => unknown): Change =>
    (lines) => {
      const at = lines.findIndex((line) => line.startsWith(`{"type":"${type}"`));
      expect(at).toBeGreaterThanOrEqual(0);
      const record = JSON.parse(lines[at]!) as never;
      return lines.with(at, `${JSON.stringify(change(record) ?? record)}\n`);
    };
  const changes: readonly (readonly [string, RegExp, Change])[] = [
    ['empty', /the file is empty|the file ends/, () => ''],
    ['no JSON', /not JSON/, () => 'hello\n'],
    ['a list', /an array/, () => '[1]\n'],
    ['binary', /UTF-8|not JSON/, () => '\u0000\u0001'],
    [
      'another format',
      /format/,
      edited('session', (it: { format: string }) => void (it.format = 'x')),
    ],
    [
      'a newer version',
      /upgrade/,
      edited('session', (it: { version: number }) => void (it.version = 2)),
    ],
    [
      'a version that is no number',
      /version/,
      edited('session', (it: object) => ({ ...it, version: 'x' })),
    ],
    [
      'a broken state',
      /state/,
      edited('session', (it: object) => ({ ...it, state: { version: 1 } })),
    ],
    [
      'a status of nothing',
      /status/,
      edited('session', (it: { session: object }) => ({
        ...it,
        session: { ...it.session, status: 'root' },
      })),
    ],
    [
      'a time with a line break',
      /exportedAt/,
      edited('session', (it: object) => ({ ...it, exportedAt: '1 (\n) 2026' })),
    ],
    [
      'a time that is none',
      /createdAt/,
      edited('session', (it: { session: object }) => ({
        ...it,
        session: { ...it.session, createdAt: 'soon' },
      })),
    ],
    [
      'an id that is a path',
      /session.id/,
      edited('session', (it: { session: object }) => ({
        ...it,
        session: { ...it.session, id: '../x' },
      })),
    ],
    ['no end', /not complete/, (lines) => lines.slice(0, -1)],
    ['a cut end', /not JSON|not complete/, (lines) => lines.join('').slice(0, -40)],
    ['a missing line', /in order|missing|no gaps/, (lines) => lines.toSpliced(2, 1)],
    ['a doubled line', /in order|missing|second/, (lines) => lines.toSpliced(2, 0, lines[2]!)],
    ['two headers', /type is/, (lines) => lines.toSpliced(1, 0, lines[0]!)],
    ['more after the end', /follows the end/, (lines) => [...lines, lines[1]!]],
    ['an unknown record', /type/, (lines) => lines.with(1, '{"type":"shell"}\n')],
    ['a record named like a method', /type/, (lines) => lines.with(1, '{"type":"constructor"}\n')],
    [
      'a message that is none',
      /message/,
      edited('message', (it: object) => ({ ...it, message: { role: 'root' } })),
    ],
    [
      'a message without a place',
      /position/,
      edited('message', (it: object) => ({ ...it, position: -1 })),
    ],
    [
      'a place beyond all',
      /position/,
      edited('message', (it: object) => ({ ...it, position: 2 ** 40 })),
    ],
    [
      'a step that is none',
      /step/,
      edited('step', (it: object) => ({ ...it, step: { number: 'x' } })),
    ],
    [
      'totals that are none',
      /totals|state/,
      edited('step', (it: object) => ({ ...it, totals: {} })),
    ],
    [
      'a step with a number beyond all',
      /step.number/,
      edited('step', (it: { step: object }) => ({ ...it, step: { ...it.step, number: 1e300 } })),
    ],
    [
      'totals with a count that is none',
      /totals.messages/,
      edited('step', (it: { totals: object }) => ({
        ...it,
        totals: { ...it.totals, messages: -0.5 },
      })),
    ],
    [
      'a step whose policy has no limits',
      /step.policy.limits/,
      edited('step', (it: { step: { policy: object } }) => ({
        ...it,
        step: { ...it.step, policy: { ...it.step.policy, limits: null } },
      })),
    ],
    [
      'an outcome without a time',
      /step.outcome.at/,
      edited('step', (it: { step: { outcome: object } }) => ({
        ...it,
        step: { ...it.step, outcome: { ...it.step.outcome, at: null } },
      })),
    ],
    [
      'an evaluation without its context',
      /lastContinuationOutcome.evaluations\[0\].context/,
      edited(
        'session',
        (it: { state: { lastContinuationOutcome: { evaluations: { context: unknown }[] } } }) => {
          it.state.lastContinuationOutcome.evaluations[0]!.context = null;
        },
      ),
    ],
    [
      'a pause whose approvals are no list',
      /state.pause.pendingApprovals/,
      edited('session', (it: { state: object }) => ({
        ...it,
        state: {
          ...it.state,
          pause: { kind: 'approval', at: '2026-01-01T00:00:00.000Z', pendingApprovals: null },
        },
      })),
    ],
    [
      'a message whose metadata is none',
      /message.metadata/,
      edited('message', (it: { message: object }) => ({
        ...it,
        message: { ...it.message, metadata: null },
      })),
    ],
    [
      'an event that is none',
      /event/,
      edited('event', (it: object) => ({ ...it, event: { type: 'toString' } })),
    ],
    [
      'an event with a broken outcome',
      /outcome/,
      edited('event', (it: { event: object }) => ({
        ...it,
        event: { ...it.event, outcome: { evaluations: 7 } },
      })),
    ],
    [
      'deep nesting',
      /deep/,
      edited('message', (it: { message: object }) => ({
        ...it,
        message: {
          ...it.message,
          metadata: JSON.parse('{"a":'.repeat(90) + '1' + '}'.repeat(90)) as object,
        },
      })),
    ],
  ];

  it.each(changes)('%s: is refused, and nothing of it stays', async (_name, why, change) => {
    const store = memoryPlace().open();
    const runtime = runtimeOn(store, turns!.agent());
    const lines = await linesOf(runtime, await played(runtime, turns!));
    const changed = change(lines);
    const text = typeof changed === 'string' ? changed : changed.join('');
    const error = await refusal(() => importSession(runtime, text, { ...ann, id: 'copy' }));
    expect(error.message).toMatch(why);
    expect(['invalid_option', 'unsupported_state_version']).toContain(error.code);
    expect(await store.find('copy')).toBeNull();
  });

  it('is bounded in its lines, its size and its records', async () => {
    const runtime = runtimeOn(memoryPlace().open(), turns!.agent());
    const text = (await linesOf(runtime, await played(runtime, turns!))).join('');
    for (const limit of [{ maxLineCharacters: 900 }, { maxCharacters: 5_000 }, { maxRecords: 5 }])
      expect(await refusal(() => importSession(runtime, text, { ...ann, ...limit }))).toMatchObject(
        {
          code: 'invalid_option',
          details: { option: Object.keys(limit)[0] },
        },
      );
    async function* endless() {
      for (;;) yield 'x'.repeat(10_000);
    }
    const refused = refusal(() =>
      importSession(runtime, endless(), { ...ann, maxLineCharacters: 100_000 }),
    );
    expect((await refused).message).toContain('maxLineCharacters');
  });

  it('cannot name the request of a step, which a reader would follow', async () => {
    const runtime = runtimeOn(memoryPlace().open(), turns!.agent());
    const lines = await linesOf(runtime, await played(runtime, turns!));
    expect(lines.join('')).not.toContain('"frame"');
    for (const request of [
      { frame: 'x', to: 4, changes: { last: 5 } },
      { frame: 'x', to: 4, changes: { last: Array.from({ length: 50_000 }, () => [0, 4]) } },
      5,
    ]) {
      const hostile = edited('step', (it: { totals: object }) => ({
        ...it,
        totals: { ...it.totals, request },
      }))(lines);
      const { id } = await importSession(runtime, hostile as readonly string[], ann);
      expect(await runtime.modelCall(id, { ...ann, step: 1 })).toMatchObject({
        status: 'pruned',
        request: null,
        step: { number: 1 },
      });
    }
  });

  it('never sets a prototype', async () => {
    const runtime = runtimeOn(memoryPlace().open(), turns!.agent());
    const lines = await linesOf(runtime, await played(runtime, turns!));
    const hostile = lines
      .join('')
      .replace('"metadata":{', '"metadata":{"__proto__":{"isAdmin":true},');
    const { id, metadata } = await importSession(runtime, hostile, ann);
    expect((metadata as { isAdmin?: unknown }).isAdmin).toBeUndefined();
    expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined();
    await runtime.delete(id, ann);
    expect(AgentError.is(await refusal(() => runtime.get(id, ann)))).toBe(true);
  });

  it('does not take an id that exists', async () => {
    const runtime = runtimeOn(memoryPlace().open(), turns!.agent());
    const id = await played(runtime, turns!);
    const text = (await linesOf(runtime, id)).join('');
    expect(await refusal(() => importSession(runtime, text, { ...ann, id }))).toMatchObject({
      code: 'conflict',
    });
    expect((await runtime.get(id, ann)).imported).toBeUndefined();
  });
});
