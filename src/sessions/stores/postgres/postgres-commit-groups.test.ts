import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { commitGroups } from './postgres-commit-groups.ts';

interface Note {
  readonly key: string;
  readonly size: number;
}
const note = (key: string, size: number = 1): Note => ({ key, size });

/** Records what is written together. `hold` lets a write wait. */
function recorded({
  hold = async () => {},
  write = (notes) => notes.map(({ key }) => key),
}: {
  hold?(notes: readonly Note[]): Promise<unknown>;
  write?(notes: readonly Note[]): readonly string[] | null;
} = {}) {
  const written: string[][] = [];
  const groups = commitGroups<Note, string>({
    keyOf: ({ key }) => key,
    sizeOf: ({ size }) => size,
    async write(notes) {
      written.push(notes.map(({ key }) => key));
      await hold(notes);
      return write(notes);
    },
    async writeAlone(one) {
      written.push([one.key]);
      await hold([one]);
      return `${one.key} alone`;
    },
  });
  return { written, add: (...notes: Note[]) => Promise.all(notes.map((one) => groups.add(one))) };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('groups of commits', () => {
  it('writes one by itself, and those of the same tick together', async () => {
    const { written, add } = recorded();
    expect(await add(note('a'))).toEqual(['a alone']);
    expect(await add(note('b'), note('c'))).toEqual(['b', 'c']);
    expect(written).toEqual([['a'], ['b', 'c']]);
  });

  it('collects what arrives while two are being written', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] }); // so that none is written for too long
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const { written, add } = recorded({ hold: () => gate });
    const adding: Promise<unknown>[] = [];
    for (const key of ['a', 'b', 'c', 'd']) {
      adding.push(add(note(key)));
      await wait(0);
    }
    expect(written).toEqual([['a'], ['b']]);
    release();
    await Promise.all(adding);
    expect(written).toEqual([['a'], ['b'], ['c', 'd']]);
  });

  it('has at most one commit of a session in a group, and keeps their order', async () => {
    const { written, add } = recorded();
    await add(note('a'), note('b'), note('a'), note('a'));
    expect(written).toEqual([['a', 'b'], ['a'], ['a']]);
  });

  it('limits the characters of a group', async () => {
    const { written, add } = recorded();
    await add(note('a', 600_000), note('b', 600_000), note('c', 2_000_000));
    expect(written).toEqual([['a'], ['b'], ['c']]);
  });

  it('writes each alone if the group cannot be written, and rejects all if that cannot help', async () => {
    const refused = recorded({ write: () => null });
    expect(await refused.add(note('a'), note('b'))).toEqual(['a alone', 'b alone']);
    const broken = recorded({
      write() {
        throw new Error('the connection broke');
      },
    });
    const settled = await Promise.allSettled([note('a'), note('b')].map((one) => broken.add(one)));
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await broken.add(note('c'))).toEqual(['c alone']);
  });

  it('does not wait for commits that wait for a row by themselves', async () => {
    let release = (): void => {};
    const locked = new Promise<void>((resolve) => (release = resolve));
    const { add } = recorded({ hold: ([one]) => (one?.key.startsWith('x') ? locked : wait(0)) });
    const stuck: Promise<unknown>[] = [];
    for (const key of ['x1', 'x2']) {
      stuck.push(add(note(key)));
      await wait(0);
    }
    expect(await add(note('a'))).toEqual(['a alone']);
    release();
    await Promise.all(stuck);
  });
});
