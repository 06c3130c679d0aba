import { found, same } from './expect.ts';
import {
  call,
  command,
  fresh,
  LONG_MS,
  message,
  type HarnessCase,
  root,
  step,
} from './store-harness.ts';

const retry = { kind: 'retry', error: 'no tenant', waitMs: 0 } as const;
const lease = (alone = false) => ({ worker: fresh('wrk'), ttlMs: LONG_MS, alone });

/** Attempts, deaths, quarantine and parking: what `claim` counts, and what resets it. */
export const attemptCases: readonly HarnessCase[] = [
  {
    name: 'claim counts attempts, but not a handover',
    async run({ store, held, take, row }) {
      const first = await held();
      same((await row(first.id)).tries, 1, 'tries at the first claim');
      await first.commit({ end: 'handover' });
      same((await row(first.id)).tries, 0, 'tries after a handover');
      const second = await take(first.id);
      same(await store.release(second.id, second.token, retry), true, 'whether it was released');
      const third = await take(first.id);
      const { tries, deaths, error } = await row(third.id);
      same({ tries, deaths, error }, { tries: 2, deaths: 0, error: 'no tenant' }, 'the counts');
    },
  },
  ...(
    [
      ['a step', { steps: [step(0)] }, 0],
      ['a result', { calls: [call('a', 'committed', { result: '{}' })] }, 0],
      ['a pause', { root: root({ status: 'paused' }), end: 'paused' }, 0],
      ['an end', { root: root({ status: 'completed' }), end: 'ended' }, 0],
      ['a start', { calls: [call('a', 'started')] }, 2],
      ['a state', { root: root(), messages: [message(0)] }, 2],
      ['a step and a handover', { steps: [step(0)], end: 'handover' }, 0],
    ] as const
  ).map(([what, parts, tries]): HarnessCase => ({
    name: `after ${what} there were ${tries} attempts of two`,
    async run({ store, held, take, row }) {
      const first = await held();
      await store.release(first.id, first.token, retry);
      const second = await take(first.id);
      const { number: done } = found(await store.nextCommand(first.id), 'the command');
      await second.commit({ ...parts, done });
      same((await row(first.id)).tries, tries, 'the tries');
    },
  })),
  {
    name: 'an end with a further command keeps the lease, as its first attempt',
    async run({ store, held, row }) {
      const { id, commit } = await held();
      const { number: done } = found(await store.nextCommand(id), 'the command');
      await store.accept(id, command('{"n":2}'), { phases: ['open'] });
      await commit({ root: root({ status: 'completed' }), done, end: 'ended' });
      const { phase, tries, deaths } = await row(id);
      same({ phase, tries, deaths }, { phase: 'open', tries: 1, deaths: 0 }, 'the session');
    },
  },
  {
    name: 'a failed attempt is not claimed during its wait, but a stop is',
    async run({ store, held, row, take }) {
      const { id, token } = await held();
      const release = { kind: 'retry', error: 'no tenant', waitMs: LONG_MS } as const;
      same(await store.release(id, token, release), true, 'whether it was released');
      const { phase, worker, isLeased } = await row(id);
      same({ phase, worker, isLeased }, { phase: 'open', worker: null, isLeased: false }, 'it');
      same(await store.claim(id, lease()), null, 'a claim during the wait');
      same(await store.release(id, token, release), false, 'a second release');
      await store.request(id, { stop: 'enough' });
      await take(id);
    },
  },
  {
    name: 'a failed attempt can be retried after its wait',
    async run({ store, held, lapse, leaseMs, take }) {
      const { id, token } = await held();
      await store.release(id, token, { kind: 'retry', error: 'no tenant', waitMs: leaseMs });
      await lapse();
      await take(id);
    },
  },
  {
    name: 'an expired lease counts as a death, and is not claimed during the wait of its claim',
    async run({ store, open, lapse, leaseMs, row, take }) {
      const { id } = await open();
      await take(id, leaseMs, { waitMs: LONG_MS });
      await lapse();
      same(await store.claim(id, lease()), null, 'a claim during the wait');
      await store.request(id, { stop: 'enough' });
      const heir = await take(id);
      const { tries, deaths, isQuarantined } = await row(heir.id);
      same(
        { tries, deaths, isQuarantined },
        { tries: 2, deaths: 1, isQuarantined: false },
        'the counts',
      );
    },
  },
  {
    name: 'after two deaths only a worker without other sessions may claim it, until a commit ends the quarantine',
    async run({ store, dying, lapse, leaseMs, row, take }) {
      const { id, commit } = await dying(1);
      await commit({ end: 'handover' });
      await take(id, leaseMs);
      await lapse();
      same(await store.claim(id, lease()), null, 'a claim beside other sessions');
      same((await row(id)).deaths, 1, 'deaths after a claim that was refused');
      const alone = await take(id, LONG_MS, { alone: true });
      const { deaths, isQuarantined } = await row(id);
      same({ deaths, isQuarantined }, { deaths: 2, isQuarantined: true }, 'the session');
      await alone.commit({ steps: [step(0)], end: 'handover' });
      same(await store.claim(id, lease()), null, 'a claim after a step that ends nothing');
      const second = await take(id, LONG_MS, { alone: true });
      await second.commit({ steps: [step(1)], endsQuarantine: true });
      await second.commit({ end: 'handover' });
      await take(id);
      same((await row(id)).deaths, 2, 'deaths of the execution');
    },
  },
  {
    name: 'deaths in quarantine all count; other deaths count up to two',
    async run({ dying, lapse, leaseMs, row, take }) {
      const { id, commit } = await dying(4);
      same((await row(id)).deaths, 4, 'deaths, two of them alone');
      await commit({ endsQuarantine: true, end: 'handover' });
      await take(id, leaseMs);
      await lapse();
      await take(id, LONG_MS, { alone: true });
      const { deaths, isQuarantined } = await row(id);
      same({ deaths, isQuarantined }, { deaths: 4, isQuarantined: true }, 'after one in company');
    },
  },
  {
    name: 'any worker may stop a session in quarantine',
    async run({ store, dying, take }) {
      const { id, commit } = await dying(2);
      await commit({ end: 'handover' });
      same(await store.claim(id, lease()), null, 'a claim beside other sessions');
      await store.request(id, { stop: 'enough' });
      await take(id);
    },
  },
  {
    name: 'an end clears deaths and quarantine; a pause keeps them',
    async run({ store, dying, row, take }) {
      const { id, commit } = await dying(2);
      const { number: done } = found(await store.nextCommand(id), 'the command');
      await commit({ root: root({ status: 'paused' }), done, end: 'paused' });
      const paused = await row(id);
      same([paused.tries, paused.deaths, paused.isQuarantined], [0, 2, true], 'after the pause');
      await store.accept(id, command('{}'), { phases: ['paused'] });
      const held = await take(id, LONG_MS, { alone: true });
      const { number } = found(await store.nextCommand(id), 'the command');
      await held.commit({ root: root({ status: 'completed' }), done: number, end: 'ended' });
      const ended = await row(id);
      same([ended.tries, ended.deaths, ended.isQuarantined], [0, 0, false], 'after the end');
    },
  },
];
