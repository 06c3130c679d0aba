import type { Envelope } from 'onward/broadcasting';
import { newUiState, reduceEnvelope } from 'onward/ui';
import { expect, it, vi } from 'vitest';
import { answerIn, endsIn, followerOf, hasEnded, textIn } from '../setup/following.ts';
import { ann, callIds, codeOf, until, waiting } from '../setup/sessions.ts';
import { connect, liveOn } from '../setup/sse.ts';
import { tcpProxy } from '../setup/tcp-proxy.ts';
import { planText } from './scale-agent.ts';
import { describeProcesses } from './scale-scene.ts';

vi.setConfig({ testTimeout: 60_000 });

const shown = (envelopes: readonly Envelope[]) => envelopes.reduce(reduceEnvelope, newUiState());
const answersIn = (envelopes: readonly Envelope[]): string[] =>
  shown(envelopes)
    .messages.filter(({ role }) => role === 'assistant')
    .map(({ content }) => content);

describeProcesses('processes on one store', (newScene, busUrl) => {
  it('work on a message, an approval and a stop of another process, without a poll', async () => {
    const { client, worker, begun } = newScene();
    const { pid } = await worker();
    const { id } = await client.create(ann);
    const plan = planText({ call: 'work' }, { call: 'pay' }, { say: ['Paid.'] });
    const paused = await client.send(id, plan, waiting);
    expect(paused.status).toBe('paused');
    const [callId = ''] = callIds(paused);
    expect(await client.approve(id, callId, waiting)).toMatchObject({ output: 'Paid.' });
    await client.send(id, planText({ call: 'work', gate: 'never' }), ann);
    await until(() => begun(id).length === 3);
    expect(await client.stop(id, waiting)).toMatchObject({ status: 'stopped' });
    expect(begun(id).map((effect) => [effect.what, effect.pid])).toEqual([
      ['work', pid],
      ['pay', pid],
      ['work', pid],
    ]);
  });

  it('stream text to a reader elsewhere, from its start also where the reader joins late', async () => {
    const { client, worker, open } = newScene();
    await worker();
    const { id } = await client.create(ann);
    await client.send(id, planText({ say: ['All ', 'is ', '@rest', 'well.'] }), ann);
    // it has no reader yet: the log says when the model call began
    await until(async () => {
      const { events } = await client.events(id, ann);
      return events.some(({ event }) => event.type === 'AgentStepStarted');
    });
    const late = followerOf(client, id);
    await until(() => textIn(late.seen) === 'All is ');
    open('rest');
    await hasEnded(late);
    expect(answerIn(late.seen)).toBe('All is well.');
    await client.send(id, planText({ say: ['And ', '@more', 'now.'] }), ann);
    await until(() => answerIn(late.seen) === 'All is well.And ');
    open('more');
    await hasEnded(late, 2);
    expect(answerIn(late.seen)).toBe('All is well.And now.');
  });

  it('take over from a killed worker, and the text that a client is shown becomes the new one', async () => {
    const { client, worker, open, begun } = newScene();
    const workers = await Promise.all([worker({ sweeps: true }), worker({ sweeps: true })]);
    const { id } = await client.create(ann);
    const endpoint = liveOn(client);
    const browser = await connect(endpoint, id);
    browser.follow();
    const answer = { say: ['Once ', 'upon ', '@rest', 'a time.'] };
    await client.send(id, planText({ call: 'work' }, answer), ann);
    await until(() => answersIn(browser.envelopes).at(-1) === 'Once upon ');
    const [first] = begun(id);
    await workers.find(({ pid }) => pid === first?.pid)?.kill();
    // the next worker has begun again, and its text has replaced the other
    const chunks = (): Envelope[] =>
      browser.envelopes.filter(({ type }) => type === 'agent.stream.chunk');
    await until(() => chunks().some(({ payload }) => 'restart' in payload));
    await until(() => answersIn(browser.envelopes).at(-1) === 'Once upon ');
    open('rest');
    await until(() => browser.ends > 0);
    const fresh = await connect(endpoint, id);
    await fresh.until(() => fresh.ends > 0);
    const [screen, log] = [shown(browser.envelopes), shown(fresh.envelopes)];
    expect(screen.messages).toEqual(log.messages);
    expect(screen.status).toBe('completed');
    expect(answersIn(browser.envelopes).filter(Boolean)).toEqual(['Once upon a time.']);
    expect(begun(id)).toHaveLength(1);
    const { items } = await client.messages(id, ann);
    expect(items.map(({ content }) => content).at(-1)).toBe('Once upon a time.');
    await Promise.all([browser.leave(), fresh.leave()]);
  });

  it('show readers that the only worker was killed, below its unfinished text, until another one starts', async () => {
    const { client, worker, open } = newScene();
    const dying = await worker({ sweeps: true });
    const { id } = await client.create(ann);
    const endpoint = liveOn(client);
    const browser = (await connect(endpoint, id)).follow();
    const reader = followerOf(client, id);
    await client.send(id, planText({ say: ['Once ', '@rest', 'upon a time.'] }), ann);
    await until(() => answersIn(browser.envelopes).at(-1) === 'Once ');
    await dying.kill();
    await until(() => shown(browser.envelopes).isWorkerLost);
    // one that comes now sees the same
    const late = (await connect(endpoint, id)).follow();
    await until(() => shown(late.envelopes).isWorkerLost);
    for (const { envelopes } of [browser, late])
      expect(shown(envelopes).messages.at(-1)).toMatchObject({
        role: 'status',
        content: 'The worker stopped answering. Waiting for another worker…',
      });
    expect(answersIn(browser.envelopes).at(-1)).toBe('Once ');
    const notices = (): unknown[] =>
      reader.seen.flatMap(({ event }) => (event.type === 'worker' ? event.isLost : []));
    await until(() => notices().length === 1);
    await worker({ sweeps: true });
    await until(() => shown(browser.envelopes).isWorkerLost === false);
    open('rest');
    await hasEnded(reader);
    expect(notices()).toEqual([true, false]);
    await until(() => answersIn(browser.envelopes).at(-1) === 'Once upon a time.');
    expect(shown(browser.envelopes).messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
    ]);
    await Promise.all([browser.leave(), late.leave()]);
  });

  it('show two readers elsewhere the same stop of a third process, and the next turn', async () => {
    const { client, worker, sender, open, begun } = newScene();
    const [stopper] = await Promise.all([sender(), worker()]);
    const { id } = await client.create(ann);
    const endpoints = [liveOn(client), liveOn(client)];
    const readers = await Promise.all(endpoints.map((endpoint) => connect(endpoint, id)));
    for (const one of readers) one.follow();
    const following = followerOf(client, id);
    await client.send(id, planText({ call: 'work' }, { say: ['Half ', '@never', 'whole.'] }), ann);
    await until(() => readers.every((one) => answersIn(one.envelopes).at(-1) === 'Half '));
    const stopped = await stopper.call('stop', id, waiting);
    expect(stopped).toMatchObject({ status: 'stopped' });
    await hasEnded(following);
    const states = () => readers.map(({ envelopes }) => shown(envelopes));
    await until(() => states().every(({ status }) => status === 'cancelled'));
    const fresh = (await connect(liveOn(client), id)).follow();
    await until(() => shown(fresh.envelopes).status === 'cancelled');
    for (const state of states()) {
      expect(state.messages).toEqual(shown(fresh.envelopes).messages);
      expect(state.stop).toEqual(shown(fresh.envelopes).stop);
    }
    // nothing of the stopped turn hinders the next one
    await client.send(id, planText({ call: 'work' }, { say: ['Next.'] }), ann);
    await until(() => readers.every((one) => answersIn(one.envelopes).at(-1) === 'Next.'));
    await until(() => states().every(({ status }) => status === 'completed'));
    expect(begun(id)).toHaveLength(2);
    open('never');
    await Promise.all([...readers, fresh].map((one) => one.leave()));
  });

  it('continue every session of a killed worker within its lease and 2 seconds', async () => {
    const { client, worker, open, begun, leaseMs } = newScene();
    const dying = await worker({ sweeps: true });
    const ids: string[] = [];
    // what this machine needs now without a death: the bar is for one that has time
    let longestStart = 0;
    for (let n = 0; n < 12; n++) {
      const { id } = await client.create(ann);
      ids.push(id);
      const sentAt = performance.now();
      await client.send(id, planText({ call: 'work', gate: 'end' }), ann);
      await until(() => begun(id).length === 1);
      longestStart = Math.max(longestStart, performance.now() - sentAt);
    }
    const next = await worker({ sweeps: true });
    // it has seen the leases of the other one for longer than a lease
    await new Promise((resolve) => setTimeout(resolve, 1.5 * leaseMs));
    const killedAt = performance.now();
    await dying.kill();
    const delays = new Map<string, number>();
    await until(() => {
      for (const id of ids)
        if (!delays.has(id) && begun(id).length === 2) delays.set(id, performance.now() - killedAt);
      return delays.size === ids.length;
    });
    expect(Math.max(...delays.values())).toBeLessThan(leaseMs + 2_000 + 2 * longestStart);
    expect(ids.flatMap((id) => begun(id)[1]?.pid)).toEqual(ids.map(() => next.pid));
    open('end');
    for (const id of ids) expect(await client.wait(id, ann)).toMatchObject({ output: 'done' });
  });

  it('agree on one of two senders and on one end of two stops', async () => {
    const { client, worker, sender, begun } = newScene();
    const [other] = await Promise.all([sender(), worker()]);
    const { id } = await client.create(ann);
    const first = planText({ call: 'work', gate: 'never' });
    const here = (executionId: string, more = {}) => ({ ...ann, executionId, ...more });
    // the same message from both: one execution, and both receive it
    const [a, b] = await Promise.all([
      client.send(id, first, here('e1')),
      other.call('send', id, first, here('e1')),
    ]);
    expect([a.executionId, 'executionId' in b && b.executionId]).toEqual(['e1', 'e1']);
    await until(() => begun(id).length === 1);
    // different ones are refused while it is busy
    expect([
      await codeOf(() => client.send(id, first, here('e2'))),
      await other.call('send', id, first, here('e3')),
    ]).toEqual(['conflict', { refused: 'conflict' }]);
    const stops = await Promise.all([client.stop(id, waiting), other.call('stop', id, waiting)]);
    expect(stops.map((stop) => 'status' in stop && stop.status)).toEqual(['stopped', 'stopped']);
    // of two that come to an idle session at once, one is taken
    const race = await Promise.all([
      client.send(id, planText({ call: 'work' }), here('e4')).then(
        () => 'taken',
        (error: unknown) => (error as { code: string }).code,
      ),
      other
        .call('send', id, planText({ call: 'work' }), here('e5'))
        .then((reply) => ('refused' in reply ? reply.refused : 'taken')),
    ]);
    expect(race.toSorted()).toEqual(['conflict', 'taken']);
    await client.wait(id, ann);
    // two that may wait run one after the other
    await Promise.all([
      client.send(id, planText({ call: 'work' }), here('e6', { whenBusy: 'queue' })),
      other.call('send', id, planText({ call: 'work' }), here('e7', { whenBusy: 'queue' })),
    ]);
    await Promise.all(['e6', 'e7'].map((executionId) => client.wait(id, { ...ann, executionId })));
    const executions = begun(id).map(({ execution }) => execution);
    expect(executions.toSorted()).toEqual(['e1', race[0] === 'taken' ? 'e4' : 'e5', 'e6', 'e7']);
    const { items } = await client.messages(id, ann);
    expect(items.filter(({ role }) => role === 'user')).toHaveLength(4);
    expect((await client.get(id, ann)).status).toBe('completed');
  });

  it('end everything while the bus is cut, and stream again when it is back', async () => {
    const proxy = await tcpProxy(busUrl());
    const { client, worker, open, begun } = newScene({ busUrl: proxy.url });
    await worker({ sweeps: true });
    const { id } = await client.create(ann);
    const reader = followerOf(client, id);
    await client.send(id, planText({ say: ['One ', '@cut', 'two.'] }), ann);
    await until(() => textIn(reader.seen) === 'One ');
    proxy.refuse();
    proxy.cutAll();
    open('cut');
    await hasEnded(reader);
    // sent, stopped and waited for without the bus
    await client.send(id, planText({ call: 'work', gate: 'never' }), ann);
    await until(() => begun(id).length === 1);
    expect(await client.stop(id, waiting)).toMatchObject({ status: 'stopped' });
    expect(await client.send(id, planText({ say: ['Three.'] }), waiting)).toMatchObject({
      output: 'Three.',
    });
    await hasEnded(reader, 3);
    const before = textIn(reader.seen).length;
    proxy.accept();
    // only the bus brings text before its message is finished
    let turns = 0;
    await until(async () => {
      turns += 1;
      await client.send(id, planText({ say: ['Four ', `@${turns}`, 'five.'] }), ann);
      const seen = await Promise.race([
        until(() => textIn(reader.seen).length > before).then(() => true),
        new Promise<false>((resolve) => setTimeout(resolve, 500, false)),
      ]);
      open(String(turns));
      await until(() => endsIn(reader.seen) >= 3 + turns);
      return seen;
    });
    await proxy.close();
  });
});
