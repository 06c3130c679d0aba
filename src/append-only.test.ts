import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { AppendOnly } from './append-only.ts';

describe('AppendOnly', () => {
  it('reads like an array', () => {
    const list = AppendOnly.of(['a', 'b', 'c']);
    expect(list.length).toBe(3);
    expect([list.at(0), list.at(-1), list.at(3), list.at(-4)]).toEqual([
      'a',
      'c',
      undefined,
      undefined,
    ]);
    expect([...list]).toEqual(['a', 'b', 'c']);
    expect(JSON.stringify(list)).toBe('["a","b","c"]');
    expect(Object.keys(list)).toEqual([]);
  });

  it('slices like an array, also with negative indexes', () => {
    const edge = fc.integer({ min: -8, max: 8 });
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 6 }), edge, fc.option(edge), (items, a, b) => {
        const list = AppendOnly.of(items).append(99).append(98);
        const end = b ?? undefined;
        expect(list.slice(a, end)).toEqual([...items, 99, 98].slice(a, end));
      }),
    );
  });

  it('does not change with the array it was created from', () => {
    const items = [1, 2];
    const list = AppendOnly.of(items);
    items.push(3);
    expect([...list]).toEqual([1, 2]);
  });

  it('append never changes an existing list', () => {
    const appends = fc.array(
      fc.record({ to: fc.nat(), items: fc.array(fc.nat(), { maxLength: 3 }) }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(appends, (script) => {
        const held = [{ list: AppendOnly.of<number>([]), expected: [] as number[] }];
        for (const { to, items } of script) {
          const base = held[to % held.length]!;
          held.push({
            list: base.list.append(...items),
            expected: [...base.expected, ...items],
          });
        }
        for (const { list, expected } of held) {
          expect([...list]).toEqual(expected);
          expect(list.toJSON()).toEqual(expected);
          expect(list.length).toBe(expected.length);
          expect(list.at(-1)).toBe(expected.at(-1));
        }
      }),
    );
  });

  it('an active iterator does not see appended items', () => {
    const list = AppendOnly.of([1, 2]);
    const seen: number[] = [];
    for (const item of list) {
      seen.push(item);
      list.append(item + 10);
    }
    expect(seen).toEqual([1, 2]);
  });

  it('append copies nothing: the newest list shares its buffer with older ones', () => {
    const copies = vi.spyOn(Array.prototype, 'slice');
    let list = AppendOnly.of<number>([]).append(0);
    copies.mockClear();
    for (let i = 1; i < 20_000; i++) list = list.append(i);
    const count = copies.mock.calls.length;
    copies.mockRestore();
    expect(count).toBe(0);
    expect(list.length).toBe(20_000);
  });
});

it('an empty list keeps no reference to appended items', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const none = AppendOnly.of<object>([]);
  const appended = ((): WeakRef<object> => {
    const item = {};
    none.append(item);
    return new WeakRef(item);
  })();
  await new Promise((resolve) => setTimeout(resolve, 0));
  collect();
  expect(appended.deref()).toBeUndefined();
  expect(none.length).toBe(0);
});
