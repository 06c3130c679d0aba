import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Message } from './message.ts';
import { Messages } from './messages.ts';

describe('Messages', () => {
  const [hello, hi, bye] = [Message.user('hello'), Message.assistant('hi'), Message.user('bye')];
  const list = Messages.from([hello, hi, bye]);

  it('is an iterable handle without own fields', () => {
    expect(list.length).toBe(3);
    expect([list.at(0), list.at(-1), list.last(), list.at(9)]).toEqual([
      hello,
      bye,
      bye,
      undefined,
    ]);
    expect([...list]).toEqual([hello, hi, bye]);
    expect(list.slice(1, 2)).toEqual([hi]);
    expect(list.withRole('user')).toEqual([hello, bye]);
    expect(Object.keys(list)).toEqual([]);
    expect(Object.isFrozen(list)).toBe(true);
  });

  it('accepts messages, their JSON and itself', () => {
    const json = JSON.parse(JSON.stringify(list)) as never[];
    expect(json).toEqual([hello.toJSON(), hi.toJSON(), bye.toJSON()]);
    expect([...Messages.from(json)]).toEqual([...list]);
    expect(Messages.from(list)).toBe(list);
    expect([...Messages.from(new Set([hello]))]).toEqual([hello]);
  });

  it('empty() never changes', () => {
    Messages.empty().append(hello);
    expect(Messages.empty().length).toBe(0);
    expect(Messages.empty().last()).toBeUndefined();
    expect(list.append()).toBe(list);
  });

  it.each<[unknown, string]>([
    [null, 'Messages.from() got null, expected a list of messages.'],
    [7, 'Messages.from() got 7, expected a list of messages.'],
    ['hello', 'Messages.from() got "hello", expected a list of messages.'],
    [{ role: 'user' }, 'Messages.from() got an object with role, expected a list of messages.'],
    [[{ role: 'user' }], 'This is not a message: its content is undefined'],
  ])('rejects %j', (input, says) => {
    expect(() => Messages.from(input as never)).toThrow(says);
  });

  it('a list never changes', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ to: fc.nat(), n: fc.nat({ max: 3 }) })), (script) => {
        const held = [{ list: Messages.empty(), expected: [] as Message[] }];
        for (const { to, n } of script) {
          const base = held[to % held.length]!;
          const more = Array.from({ length: n }, (_, i) => Message.user(`${to} ${i}`));
          held.push({ list: base.list.append(...more), expected: [...base.expected, ...more] });
        }
        for (const { list, expected } of held) expect([...list]).toEqual(expected);
      }),
    );
  });
});
