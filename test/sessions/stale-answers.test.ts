import { AgentBuilder, type AgentError, type SessionRuntime } from 'onward';
import { describe, expect, it } from 'vitest';
import { agentServer } from 'onward/server';
import { stores } from '../setup/four-stores.ts';
import { gated } from '../setup/session-moments.ts';
import { ann, refusal, runtimeOn } from '../setup/sessions.ts';

const ran: unknown[] = [];
const danger = gated('danger', (args: object) => ran.push(args));

/** Calls the tool as a message like `c1 {"n":1}` says, and answers any other message. */
const agent = AgentBuilder.base()
  .withName('a')
  .withDriver({
    name: 'parrot',
    infer: async ({ messages }) => {
      const last = messages.last();
      const [, id, args] = /^(c\d) (\{.*\})$/.exec(last?.isUser() ? last.text : '') ?? [];
      const toolCalls = id ? [{ id, name: 'danger', args: JSON.parse(args ?? '{}') }] : [];
      return { content: 'ok', toolCalls, finishReason: id ? 'tool_calls' : 'stop', usage: null };
    },
  })
  .withTools(danger)
  .build();

type Bound = { readonly executionId?: string; readonly argsHash?: string };
/** Sends an answer to the session. Returns `accepted` or the error code. */
type Route = (runtime: SessionRuntime, id: string, bound: Bound, edit?: object) => Promise<unknown>;

const overHttp =
  (path: (id: string) => string, body: (bound: Bound, args?: object) => object): Route =>
  async (runtime, id, bound, args) => {
    const fetch = agentServer({ runtime, owner: () => ann.owner });
    const response = await fetch(
      new Request(`http://localhost/api${path(id)}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body(bound, args)),
      }),
    );
    const answer = (await response.json()) as { error?: { code: string } };
    if (response.ok) return 'accepted';
    return `${answer.error?.code} ${response.status}`;
  };

const said = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'accepted',
    (error: AgentError) => error.code,
  );

const routes: readonly (readonly [string, Route])[] = [
  [
    'approve',
    (runtime, id, bound, args) =>
      said(runtime.approve(id, 'c1', { ...ann, ...bound, ...(args && { args: args as never }) })),
  ],
  [
    'deny',
    (runtime, id, bound) => said(runtime.deny(id, 'c1', { ...ann, ...bound, reason: 'no' })),
  ],
  [
    'resume',
    (runtime, id, bound, args) =>
      said(
        runtime.resume(id, {
          ...ann,
          approvals: { c1: { approve: true, ...bound, ...(args && { args: args as never }) } },
        }),
      ),
  ],
  [
    'POST approvals',
    overHttp(
      (id) => `/sessions/${id}/approvals/c1`,
      (bound, args) => ({ decision: 'approve', ...bound, ...(args && { args }) }),
    ),
  ],
  [
    'POST resume',
    overHttp(
      (id) => `/sessions/${id}/resume`,
      (bound, args) => ({ approvals: { c1: { approve: true, ...bound, ...(args && { args }) } } }),
    ),
  ],
];
const withoutStatus = (answer: unknown): string => String(answer).replace(/ \d+$/, '');

let count = 0;
describe.each(stores)('D91: a late answer (%s)', (_store, open) => {
  const begin = async () => {
    const runtime = runtimeOn(open(), agent);
    const id = `stale-${process.pid}-${count++}`;
    await runtime.create({ ...ann, id });
    const turn = async (text: string) => {
      const session = await runtime.send(id, text, { ...ann, wait: true });
      const [{ executionId, argsHash } = {} as Bound] = session.pendingApprovals;
      return { executionId: executionId!, argsHash: argsHash! };
    };
    const stop = () => runtime.stop(id, { ...ann, wait: true });
    ran.length = 0;
    return { runtime, id, turn, stop };
  };

  it.each(routes)('counts only for the call that was shown: %s', async (name, answer) => {
    const { runtime, id, turn, stop } = await begin();
    const first = await turn('c1 {"n":"harmless"}');
    await stop();
    // too late, because no call waits
    expect(withoutStatus(await answer(runtime, id, first))).toBe('not_resumable');
    await turn('talk');
    expect(withoutStatus(await answer(runtime, id, first))).toBe('stale_approval');
    await runtime.prune({ olderThan: '9999-01-01', owner: ann.owner });
    const second = await turn('c1 {"n":"EVIL"}');
    expect(second.argsHash).not.toBe(first.argsHash);
    const stale = name.startsWith('POST') ? 'stale_approval 409' : 'stale_approval';
    const { executionId, argsHash } = second;
    for (const bound of [
      {},
      first,
      { executionId: first.executionId },
      { argsHash: first.argsHash },
      // the right arguments, but no execution
      { argsHash },
      { executionId, argsHash: first.argsHash },
      { executionId: first.executionId, argsHash },
    ])
      expect(await answer(runtime, id, bound), JSON.stringify(bound)).toBe(stale);
    if (name !== 'deny')
      expect(await answer(runtime, id, { ...first }, { n: 'edited' })).toBe(stale);
    expect(ran).toEqual([]);
    expect((await runtime.get(id, ann)).pendingApprovals).toHaveLength(1);
    expect(await answer(runtime, id, second)).toBe('accepted');
    await runtime.wait(id, ann);
    expect(ran).toEqual(name === 'deny' ? [] : [{ n: 'EVIL' }]);
    expect(withoutStatus(await answer(runtime, id, second))).toBe('not_resumable');
  });

  it('without an execution id counts only if the call id has not waited in another execution', async () => {
    const { runtime, id, turn, stop } = await begin();
    await turn('talk');
    await turn('c2 {"n":1}');
    await stop();
    await turn('c1 {"n":2}');
    await runtime.approve(id, 'c1', { ...ann, wait: true });
    expect(ran).toEqual([{ n: 2 }]);
    // from now on the id has waited
    const { executionId } = await turn('c1 {"n":3}');
    const error = await refusal(() => runtime.approve(id, 'c1', ann));
    expect(error.code).toBe('stale_approval');
    expect(error.message).toMatch(
      /names no execution.*answer with their executionId and argsHash/s,
    );
    expect(error.details).toEqual({ sessionId: id, callId: 'c1', executionId });
    await runtime.approve(id, 'c1', { ...ann, executionId, args: { n: 4 }, wait: true });
    expect(ran).toEqual([{ n: 2 }, { n: 4 }]);
  });

  it('is stale in a fork, and in a session that is created again', async () => {
    const { runtime, id, turn, stop } = await begin();
    const first = await turn('c1 {"n":1}');
    await stop();
    const fork = await runtime.fork(id, { ...ann, id: `${id}-fork` });
    await runtime.send(fork.id, 'c1 {"n":"fork"}', { ...ann, wait: true });
    for (const bound of [{}, first])
      expect(await said(runtime.approve(fork.id, 'c1', { ...ann, ...bound }))).toBe(
        'stale_approval',
      );
    const [call] = (await runtime.get(fork.id, ann)).pendingApprovals;
    const { executionId, argsHash } = call!;
    await runtime.approve(fork.id, 'c1', { ...ann, executionId, argsHash, wait: true });
    expect(ran).toEqual([{ n: 'fork' }]);
    await runtime.delete(id, ann);
    await runtime.create({ ...ann, id });
    await turn('c1 {"n":"new"}');
    expect(await said(runtime.approve(id, 'c1', { ...ann, ...first }))).toBe('stale_approval');
    await runtime.approve(id, 'c1', { ...ann, wait: true });
    expect(ran).toEqual([{ n: 'fork' }, { n: 'new' }]);
  });

  it('is stored with its approver, by default the owner', async () => {
    const { runtime, id, turn } = await begin();
    const first = await turn('c1 {"n":1}');
    await runtime.approve(id, 'c1', { ...ann, ...first, by: 'boss@shop', wait: true });
    await turn('c2 {"n":2}');
    await runtime.deny(id, 'c2', { ...ann, reason: 'no', wait: true });
    const { executionId } = await turn('c3 {"n":3}');
    const approvals = { c3: { approve: true, args: { n: 4 }, executionId } } as const;
    await runtime.resume(id, { ...ann, approvals, by: 'eve', wait: true });
    const { items } = await runtime.steps(id, ann);
    const kept = items.flatMap(({ results }) => results.flatMap(({ approval }) => approval ?? []));
    const at = expect.stringMatching(/^\d{4}-/);
    const argsHash = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(kept).toEqual([
      { decision: 'approved', by: 'boss@shop', at, argsHash: first.argsHash },
      { decision: 'denied', by: 'ann', at, argsHash },
      { decision: 'edited', by: 'eve', at, argsHash },
    ]);
  });

  it('is rejected on every route if its edit has the mark of a hidden value', async () => {
    const { runtime, id, turn } = await begin();
    const bound = await turn('c1 {"user":"bob","password":"real-password-1"}');
    const { pendingApprovals } = await runtime.get(id, ann);
    expect(pendingApprovals[0]).toMatchObject({
      args: { user: 'bob', password: '[redacted]' },
      hidden: ['/password'],
      ...bound,
    });
    const edit = { ...pendingApprovals[0]!.args, user: 'eve' };
    for (const [name, answer] of routes)
      if (name !== 'deny')
        expect(withoutStatus(await answer(runtime, id, bound, edit))).toBe('invalid_approval');
    expect(ran).toEqual([]);
    const whole = { user: 'eve', password: 'real-password-1' };
    await runtime.approve(id, 'c1', { ...ann, ...bound, args: whole, wait: true });
    expect(ran).toEqual([whole]);
  });
});
