import { describe, expect, it } from 'vitest';
import { AgentError } from '../../errors/agent-error.ts';
import { groupCommit, type GroupCommit } from './group-commit.ts';

const busy = new Error('busy');

/** Creates a database that only records its calls. */
function noting(broken: { begin?: () => void } = {}): { log: string[]; group: GroupCommit } {
  const log: string[] = [];
  const group = groupCommit({
    begin() {
      broken.begin?.();
      log.push('begin');
    },
    commit: () => log.push('commit'),
    rollback: () => log.push('rollback'),
    failed: (operation, cause) => new AgentError('store_failed', operation, { cause }),
    isBusy: (error) => error === busy,
    timeoutMs: 300,
  });
  return { log, group };
}

describe('writes in one turn of the event loop', () => {
  it('go into one transaction in order, and resolve after its commit', async () => {
    const { log, group } = noting();
    const writes = ['a', 'b', 'c'].map((name) =>
      group.add(name, () => log.push(name)).then(() => log.push(`${name} is done`)),
    );
    expect(log).toEqual([]);
    await Promise.all(writes);
    expect(log.join(', ')).toBe('begin, a, b, c, commit, a is done, b is done, c is done');
    await group.add('d', () => log.push('d'));
    expect(log.slice(-3)).toEqual(['begin', 'd', 'commit']);
  });

  it('are split into several transactions if there are many', async () => {
    const { log, group } = noting();
    const written = await Promise.all(
      Array.from({ length: 600 }, (_, n) => group.add('n', () => n)),
    );
    expect(written).toEqual(Array.from({ length: 600 }, (_, n) => n));
    expect(log).toEqual(['begin', 'commit', 'begin', 'commit', 'begin', 'commit']);
  });

  it('are not affected by one that throws an AgentError', async () => {
    const { log, group } = noting();
    const refuse = (): never => {
      throw new AgentError('stale_owner', 'not yours');
    };
    const outcomes = await Promise.allSettled([
      group.add('a', () => 1),
      group.add('b', refuse),
      group.add('c', () => 3),
    ]);
    expect(outcomes).toMatchObject([
      { value: 1 },
      { reason: { code: 'stale_owner' } },
      { value: 3 },
    ]);
    expect(log).toEqual(['begin', 'commit']);
  });

  it('are each written alone after one fails', async () => {
    const { log, group } = noting();
    const breakDown = (): never => {
      throw new Error('disk full');
    };
    const outcomes = await Promise.allSettled([
      group.add('a', () => log.push('a')),
      group.add('b', breakDown),
      group.add('c', () => log.push('c')),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[1]).toMatchObject({ reason: { code: 'store_failed', message: 'b' } });
    expect(log.join(', ')).toBe(
      'begin, a, rollback, begin, a, commit, begin, rollback, begin, c, commit',
    );
  });

  it('are all rejected if no transaction begins, and later ones are written', async () => {
    let begins = 0;
    const { log, group } = noting({
      begin() {
        if (begins++ === 0) throw new Error('database is locked');
      },
    });
    const outcomes = await Promise.allSettled([group.add('a', () => 1), group.add('b', () => 2)]);
    expect(outcomes).toMatchObject([
      { reason: { code: 'store_failed', message: 'a' } },
      { reason: { code: 'store_failed', message: 'b' } },
    ]);
    expect(begins).toBe(1);
    expect(await group.add('c', () => 3)).toBe(3);
    expect(log).toEqual(['begin', 'commit']);
  });

  it('wait while another process writes and keep their order', async () => {
    let tries = 0;
    const { log, group } = noting({
      begin() {
        tries += 1;
        if (tries === 2) add('c');
        if (tries < 4) throw busy;
      },
    });
    const writes: Promise<unknown>[] = [];
    const add = (name: string): void => void writes.push(group.add(name, () => log.push(name)));
    add('a');
    add('b');
    await writes[0];
    await Promise.all(writes);
    expect(log).toEqual(['begin', 'a', 'b', 'c', 'commit']);
  });

  it('are retried as a whole if another process writes in between', async () => {
    let tries = 0;
    const { log, group } = noting();
    const inBetween = (): number => {
      if (++tries === 1) throw busy;
      return tries;
    };
    await Promise.all([group.add('a', () => log.push('a')), group.add('b', inBetween)]);
    expect(log).toEqual(['begin', 'a', 'rollback', 'begin', 'a', 'commit']);
  });

  it('are rejected if the other process does not finish in time', async () => {
    const { group } = noting({
      begin() {
        throw busy;
      },
    });
    const began = performance.now();
    await expect(group.add('a', () => 1)).rejects.toMatchObject({ message: 'a', cause: busy });
    expect(performance.now() - began).toBeGreaterThanOrEqual(299);
  });

  it('leave turns of the event loop to other work if they take long', async () => {
    const { log, group } = noting();
    const slow = (): number => {
      const endsAt = performance.now() + 12;
      while (performance.now() < endsAt);
      return log.push('slow');
    };
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    await Promise.all(Array.from({ length: 8 }, () => group.add('slow', slow)));
    clearInterval(timer);
    expect(log.filter((line) => line === 'commit').length).toBeGreaterThanOrEqual(4);
    expect(turns).toBeGreaterThan(1);
  });
});
