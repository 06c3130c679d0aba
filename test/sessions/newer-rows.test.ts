import type { SessionStore } from 'onward/stores';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { stores } from '../setup/four-stores.ts';
import { builderWith, callIds, followingDriver, runtimeOn, waiting } from '../setup/sessions.ts';
import { fresh, root } from '../../src/testing/store-contract/store-harness.ts';

const { toolCall, final } = ScenarioStep;
const NEWER = 99;

/** Claims the session and writes it in an unknown format, like a newer release. */
async function rewrittenByNewer(
  store: SessionStore,
  id: string,
  end: 'ended' | 'paused' | 'handover',
): Promise<void> {
  const before = (await store.find(id))!;
  if (before.phase !== 'open') {
    const command = { kind: 'resume', executionId: before.executionId ?? '', body: '{}' } as const;
    await store.accept(id, { ...command, at: before.updatedAt }, { phases: [before.phase] });
  }
  const row = (await store.claim(id, { worker: 'newer', ttlMs: 60_000, reads: NEWER }))!;
  const done = (await store.nextCommand(id))?.number;
  await store.commit({
    sessionId: id,
    token: row.token,
    revision: row.revision,
    root: root({
      head: '{"version":99,"all":"new"}',
      executionId: row.executionId ?? 'e',
      messageCount: row.messageCount,
      stepCount: row.stepCount,
      status: end === 'ended' ? 'completed' : end === 'paused' ? 'paused' : 'in_progress',
      requires: NEWER,
    }),
    ...(done !== undefined && { done }),
    end,
    at: row.updatedAt,
  });
}

const refused = { code: 'unsupported_state_version', details: { requires: NEWER, reads: 2 } };

describe.each(stores)('a session that requires a newer release (%s)', (_name, open) => {
  it('is listed and shown, but rejects messages, answers, grants and forks', async () => {
    const store = open();
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const driver = followingDriver([toolCall('pay'), final('done')], [final('other')]);
    const runtime = runtimeOn(store, builderWith(driver, pay).build());
    const owner = fresh('own');
    const who = { owner };
    const { id } = await runtime.create(who);
    const paused = await runtime.send(id, 'Pay.', { ...who, wait: true });
    const [callId = ''] = callIds(paused);
    await rewrittenByNewer(store, id, 'paused');
    const before = (await store.find(id))!;

    expect(await runtime.get(id, who)).toMatchObject({ id, status: 'paused', agent: paused.agent });
    expect((await runtime.list(who)).sessions).toMatchObject([{ id, status: 'paused' }]);
    expect((await runtime.messages(id, who)).items.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
    ]);
    const calls = [
      () => runtime.send(id, 'More.', { ...waiting, owner }),
      () => runtime.send(id, 'More.', { owner, whenBusy: 'queue' }),
      () => runtime.approve(id, callId, who),
      () => runtime.deny(id, callId, { owner, reason: 'no' }),
      () => runtime.resume(id, { owner, grant: { steps: 1 } }),
      () => runtime.fork(id, who),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject(refused);
    expect(await store.find(id)).toEqual(before);
    expect((await runtime.list(who)).sessions).toHaveLength(1);
  });

  it('is not worked on, keeps a stop request for a worker that can read it, and can be deleted', async () => {
    const store = open();
    const runtime = runtimeOn(store, builderWith(followingDriver([final('done')])).build());
    const who = { owner: fresh('own') };
    const { id } = await runtime.create(who);
    await rewrittenByNewer(store, id, 'handover');
    await runtime.recover();
    expect(await store.find(id)).toMatchObject({ phase: 'open', worker: null, revision: 1 });

    await runtime.stop(id, { ...who, reason: 'enough' });
    await runtime.recover();
    expect(await store.find(id)).toMatchObject({ phase: 'open', worker: null, revision: 1 });
    expect(await store.urgent({ agents: [], limit: 9_999, reads: NEWER })).toContain(id);
    expect((await store.find(id))?.stopReason).toContain('enough');
    expect(await store.claim(id, { worker: 'newer', ttlMs: 1_000, reads: NEWER })).not.toBeNull();

    await runtime.delete(id, who);
    expect(await store.find(id)).toBeNull();
  });
});
