import { AgentBuilder, SessionRuntime, type SessionRuntimeOptions } from 'onward';
import { memoryStore } from 'onward/stores/memory';
import { fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  agentWith,
  ann,
  builderWith,
  codeOf,
  followingDriver,
  memoryPlace,
  places,
  refusal,
  runtimeOn,
  takesAnotherTurn,
  waiting,
} from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;
const bob = { owner: 'bob' };

describe.each(places)('sessions (%s)', (_name, makePlace) => {
  it('create stores a pending session with the given messages and metadata', async () => {
    const place = makePlace();
    const driver = followingDriver([final('x')], [final('hello')]);
    const runtime = runtimeOn(place.open(), builderWith(driver).build());
    const created = await runtime.create({
      ...ann,
      id: 'a.b=c@d,e;f_g-1',
      metadata: { plan: 'pro', tags: ['x'] },
      messages: [
        { role: 'developer', content: 'Be short.' },
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'hello' },
      ],
    });
    const session = await created.get();
    expect(session).toMatchObject({
      id: 'a.b=c@d,e;f_g-1',
      owner: 'ann',
      agent: 'support',
      status: 'pending',
      executionId: null,
      messageCount: 3,
      stepCount: 0,
      usage: { total: 0 },
      pause: null,
      pendingApprovals: [],
      stopReason: null,
      outcome: null,
      output: null,
      metadata: { plan: 'pro', tags: ['x'] },
    });
    expect(session.createdAt).toBe(session.updatedAt);
    expect(await runtime.get(session.id, ann)).toEqual(session);
    const seeded = (await runtime.messages(session.id, ann)).items;
    expect(seeded.map(({ content }) => content)).toEqual(['Be short.', 'hi', 'hello']);
    const done = await runtime.send(session.id, 'again', waiting);
    expect(done).toMatchObject({ status: 'completed', output: 'hello', messageCount: 5 });
    expect([...driver.requests[0]!.messages].map(({ text }) => text)).toEqual([
      'Be short.',
      'hi',
      'hello',
      'again',
    ]);
    expect((await runtime.messages(session.id, ann)).items.slice(0, 3)).toEqual(seeded);
    await takesAnotherTurn(place, session.id);
  });

  it('create rejects an id that is taken', async () => {
    const place = makePlace();
    const runtime = runtimeOn(place.open(), agentWith([]));
    await runtime.create({ ...ann, id: 's' });
    const error = await refusal(() => runtime.create({ ...bob, id: 's' }));
    expect(error.code).toBe('conflict');
    expect(error.message).toContain('is taken');
    const made = await Promise.all([1, 2, 3].map(() => runtime.create(ann)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(3);
  });

  it('list pages by last change, newest first, and filters by owner, status and agent', async () => {
    const place = makePlace();
    const clock = fakeClock();
    const other = AgentBuilder.base().withName('sales').withDriver(followingDriver()).build();
    const make = agentWith([final('done')]);
    const runtime = runtimeOn(place.open(), [make, other], { clock });
    for (let n = 0; n < 7; n++) {
      // two sessions each have the same time
      if (n % 2 === 0) clock.jump(1_000);
      await runtime.create({ ...ann, agent: n < 5 ? 'support' : 'sales', id: `s${n}` });
    }
    await runtime.create({ ...bob, agent: 'support', id: 'b' });
    clock.jump(1_000);
    await runtime.send('s0', 'go', waiting);
    const ids = async (options: object): Promise<string[]> =>
      (await runtime.list({ ...ann, ...options })).sessions.map(({ id }) => id);
    const all = await ids({});
    expect(all).toEqual(['s0', 's6', 's5', 's4', 's3', 's2', 's1']);
    const paged: string[] = [];
    let cursor: string | null = '';
    let pages = 0;
    while (cursor !== null) {
      const page = await runtime.list({ ...ann, limit: 2, ...(cursor && { cursor }) });
      paged.push(...page.sessions.map(({ id }) => id));
      cursor = page.cursor;
      pages += 1;
    }
    expect(paged).toEqual(all);
    expect(pages).toBe(4);
    expect((await runtime.list({ ...ann, limit: 7 })).cursor).toBeNull();
    expect(await ids({ status: 'completed' })).toEqual(['s0']);
    expect(await ids({ status: 'pending', agent: 'sales' })).toEqual(['s6', 's5']);
    expect(await ids({ agent: 'unknown' })).toEqual([]);
    expect((await runtime.list(bob)).sessions.map(({ id }) => id)).toEqual(['b']);
    expect((await runtime.list({ owner: 'carol' })).sessions).toEqual([]);
  });

  it('list returns the same sessions as get', async () => {
    const place = makePlace();
    const pay = mockTool('pay', 'x', { needsApproval: true });
    const runtime = runtimeOn(place.open(), agentWith([toolCall('pay', { n: 1 })], pay));
    await runtime.create({ ...ann, id: 's' });
    const paused = await runtime.send('s', 'go', waiting);
    expect(paused.pendingApprovals).toHaveLength(1);
    const { sessions } = await runtime.list({ ...ann, status: 'paused' });
    // a list also says what needs a person, and what its newest run recorded
    const more = { attention: null, run: expect.objectContaining({ errors: 0 }) };
    expect(sessions).toEqual([{ ...paused, ...more }]);
  });

  it('messages and steps are read in pages, newest page first', async () => {
    const place = makePlace();
    const turn = [toolCall('look'), toolCall('look'), final('done')];
    const runtime = runtimeOn(
      place.open(),
      builderWith(followingDriver(turn, turn), mockTool('look')).build(),
    );
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'one', waiting);
    await runtime.send('s', 'two', waiting);
    const read = async (what: 'messages' | 'steps', limit: number): Promise<unknown[]> => {
      const items: unknown[] = [];
      for (let before: number | null | undefined; before !== null;) {
        const page: { items: readonly unknown[]; before: number | null } = await runtime[what](
          's',
          {
            ...ann,
            limit,
            ...(before !== undefined && { before }),
          },
        );
        expect(page.items.length).toBeLessThanOrEqual(limit);
        items.unshift(...page.items);
        before = page.before;
      }
      return items;
    };
    const messages = (await runtime.messages('s', ann)).items;
    expect(messages).toHaveLength(12);
    const steps = (await runtime.steps('s', ann)).items;
    expect(steps.map(({ number }) => number)).toEqual([1, 2, 3, 1, 2, 3]);
    expect(steps[0]!.outcome!.evaluations.length).toBeGreaterThan(3);
    for (const limit of [1, 5, 12, 100]) {
      expect(await read('messages', limit)).toEqual(messages);
      expect(await read('steps', limit)).toEqual(steps);
    }
  });
});

describe('owners', () => {
  it('no method finds a session of another owner', async () => {
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const place = memoryPlace();
    const runtime = runtimeOn(place.open(), agentWith([toolCall('pay')], pay));
    await runtime.create({ ...ann, id: 's' });
    const paused = await runtime.send('s', 'go', waiting);
    const { callId } = paused.pendingApprovals[0]!;
    const before = await place.open().find('s');
    const asked: Record<string, (id: string) => unknown> = {
      get: (id) => runtime.get(id, bob),
      send: (id) => runtime.send(id, 'hi', bob),
      'send and wait': (id) => runtime.send(id, 'hi', { ...bob, wait: true, whenBusy: 'queue' }),
      pause: (id) => runtime.pause(id, bob),
      resume: (id) => runtime.resume(id, bob),
      'resume with answers': (id) =>
        runtime.resume(id, { ...bob, approvals: { [callId]: { approve: true } } }),
      approve: (id) => runtime.approve(id, callId, bob),
      deny: (id) => runtime.deny(id, callId, { ...bob, reason: 'no' }),
      stop: (id) => runtime.stop(id, bob),
      fork: (id) => runtime.fork(id, bob),
      'fork at a step': (id) => runtime.fork(id, { ...bob, atStep: 99 }),
      delete: (id) => runtime.delete(id, bob),
      messages: (id) => runtime.messages(id, bob),
      steps: (id) => runtime.steps(id, bob),
      events: (id) => runtime.events(id, bob),
      state: (id) => runtime.state(id, bob),
      subscribe: (id) => runtime.subscribe(id, bob, () => {}),
    };
    for (const [name, ask] of Object.entries(asked)) {
      const theirs = await refusal(() => ask('s'));
      const missing = await refusal(() => ask('t'));
      expect([name, theirs.code]).toEqual([name, 'session_not_found']);
      // both errors are the same
      const look = ({ code, message, details }: typeof theirs): string =>
        JSON.stringify({ code, message, details }).replaceAll(/\bt\b/g, 's');
      expect(look(theirs)).toBe(look(missing));
      expect(await codeOf(() => ask('../../etc'))).toBe('session_not_found');
    }
    expect(await place.open().find('s')).toEqual(before);
    expect(pay.calls).toEqual([]);
  });

  it('prune is limited to an owner if one is given', async () => {
    const place = memoryPlace();
    const runtime = runtimeOn(place.open(), builderWith(followingDriver([final('x')])).build());
    for (const [id, owner] of [
      ['a', 'ann'],
      ['b', 'bob'],
    ] as const) {
      await runtime.create({ id, owner });
      await runtime.send(id, 'go', { owner, wait: true });
    }
    const olderThan = new Date(Date.now() + 1_000).toISOString();
    expect((await runtime.prune({ olderThan, owner: 'bob' })).sessions).toBe(1);
    expect((await runtime.events('a', ann)).events.length).toBeGreaterThan(0);
    expect((await runtime.events('b', bob)).events).toEqual([]);
    expect((await runtime.prune({ olderThan })).sessions).toBe(1);
  });
});

describe('the runtime rejects with a typed error', () => {
  const runtime = () => runtimeOn(memoryPlace().open(), agentWith([]));

  it.each<[string, unknown]>([
    ['empty', ''],
    ['missing', undefined],
    ['not a text', 7],
    ['too long', 'x'.repeat(201)],
    ['with control characters', 'a\nb'],
  ])('an owner that is %s', async (_what, owner) => {
    const given = { owner: owner as string };
    expect(await codeOf(() => runtime().create(given))).toBe('invalid_option');
    expect(await codeOf(() => runtime().list(given))).toBe('invalid_option');
    expect(await codeOf(() => runtime().get('s', given))).toBe('invalid_option');
  });

  it.each(['', 'a b', 'a/b', 'ä', 'x'.repeat(129), 'a\0b'])('the session id %j', async (id) => {
    expect(await codeOf(() => runtime().create({ ...ann, id }))).toBe('invalid_option');
  });

  it.each([0, -1, 1.5, Number.NaN, Infinity, '5' as never])('a limit of %j', async (limit) => {
    const made = runtime();
    await made.create({ ...ann, id: 's', messages: [{ role: 'user', content: 'hi' }] });
    expect(await codeOf(() => made.list({ ...ann, limit }))).toBe('invalid_option');
    expect(await codeOf(() => made.steps('s', { ...ann, limit }))).toBe('invalid_option');
  });

  it.each([-1, 1.5, Number.NaN, '5' as never])('a position in a history of %j', async (place) => {
    const made = runtimeOn(memoryPlace().open(), agentWith([final('x')]));
    await made.create({ ...ann, id: 's' });
    await made.send('s', 'go', waiting);
    for (const read of ['messages', 'steps'] as const)
      expect(await codeOf(() => made[read]('s', { ...ann, before: place }))).toBe('invalid_option');
    expect(await codeOf(() => made.events('s', { ...ann, after: place }))).toBe('invalid_option');
  });

  it.each([
    ['', 'nothing'],
    ['x', 'not base64'],
    ['é', 'not base64 either'],
    [btoa('[]'), 'an empty list'],
    [btoa('{}'), 'no list'],
    [btoa('[1,2]'), 'numbers'],
    [btoa('["2026-01-01T00:00:00.000Z"]'), 'no id'],
    [btoa('["2026-01-01T00:00:00.000Z",7]'), 'an id that is not a text'],
    [btoa(`["2026-01-01T00:00:00.000Z","a' or 1=1"]`), 'an id that no session can have'],
    [btoa('["yesterday","s"]'), 'an invalid time'],
    [btoa('["2026-01-01","s"]'), 'a day without a time'],
    [btoa('["2026-01-01T00:00:00.000Z or later","s"]'), 'a time with trailing text'],
  ])('the cursor %j: %s', async (cursor) => {
    expect(await refusal(() => runtime().list({ ...ann, cursor }))).toMatchObject({
      code: 'invalid_option',
      details: { option: 'list cursor' },
    });
  });

  it('an invalid time or owner for prune', async () => {
    expect(await codeOf(() => runtime().prune({ olderThan: 'yesterday' }))).toBe('invalid_option');
    expect(await codeOf(() => runtime().prune({ olderThan: new Date(), owner: '' }))).toBe(
      'invalid_option',
    );
  });

  it('an agent that the runtime does not have', async () => {
    const named = (name: string) =>
      AgentBuilder.base()
        .withName(name)
        .withDriver(followingDriver([final(name)]))
        .build();
    const several = runtimeOn(memoryPlace().open(), [named('sales'), named('support')]);
    const unsaid = await refusal(() => several.create(ann));
    expect(unsaid).toMatchObject({
      code: 'unknown_agent',
      message: 'This runtime has several agents: sales, support. Name one of them with { agent }.',
      details: { agent: null, known: ['sales', 'support'] },
    });
    const wrong = await refusal(() => several.create({ ...ann, agent: 'legal' }));
    expect(wrong.message).toContain('no agent "legal". Known: sales, support.');
    const { id } = await several.create({ ...ann, agent: 'sales' });
    expect(await several.send(id, 'go', waiting)).toMatchObject({
      agent: 'sales',
      output: 'sales',
    });
  });

  it.each<[string, Partial<SessionRuntimeOptions>]>([
    ['no agents', { agents: [] }],
    ['two agents of the same name', { agents: [agentWith([]), agentWith([])] }],
    ['an object that is not an agent', { agents: [{ name: 'x' } as never] }],
    ['an empty window', { maxMessages: 0 }],
    ['a lease that is too short for its heartbeat', { lease: { leaseMs: 1_000 } }],
    ['a lease of 0 ms', { lease: { leaseMs: 0 } }],
    ['a heartbeat of NaN', { lease: { heartbeatMs: Number.NaN } }],
  ])('a runtime with %s', async (_what, options) => {
    const make = () =>
      new SessionRuntime({ store: memoryStore(), agents: [agentWith([])], ...options });
    expect(await codeOf(make)).toBe('invalid_option');
  });

  it('invalid first messages', async () => {
    const messages = [{ role: 'friend', content: 'x' }] as never;
    expect(await codeOf(() => runtime().create({ ...ann, messages }))).toBe('invalid_message');
    const open = [
      { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'x', args: {} }] },
    ] as const;
    expect(await codeOf(() => runtime().create({ ...ann, messages: open }))).toBe(
      'invalid_message',
    );
  });
});
