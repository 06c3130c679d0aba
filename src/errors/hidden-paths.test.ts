import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pointerKeys, childOf } from '../json-pointer.ts';
import { redactedWithPaths } from './hidden-paths.ts';
import { createRedactor, defaultRedactor, type Redactor } from './redactor.ts';

const KEY = 'sk-live-abcdefghijklmnop1234';

describe('the paths of hidden values', () => {
  it.each<[string, unknown, readonly string[]]>([
    ['nowhere', { user: 'bob', n: 1, list: ['a'] }, []],
    ['under a secret name', { user: 'bob', password: 'x' }, ['/password']],
    ['an object under a secret name', { credentials: { a: 1 } }, ['/credentials']],
    ['inside a longer text', { command: `curl -H "Authorization: Bearer ${KEY}"` }, ['/command']],
    ['inside JSON in a text', { body: '{"password":"x"}' }, ['/body']],
    [
      'in depth',
      { a: [{ ok: 1 }, { token: 'x' }], b: { c: { secret: 'y' } } },
      ['/a/1/token', '/b/c/secret'],
    ],
    ['in a name', { [KEY]: 1 }, ['/[redacted]']],
    ['in two names that look the same', { [KEY]: 1, [`${KEY}9`]: 2 }, ['/[redacted]']],
    ['under names that pointers escape', { 'a/b': { '~': KEY } }, ['/a~1b/~0']],
    ['only a text', KEY, ['']],
    ['an empty secret is not hidden', { password: '' }, []],
    ['the placeholder is not a secret', { note: '[redacted]' }, []],
  ])('%s', (_name, value, hidden) => {
    const redacted = redactedWithPaths(defaultRedactor, value);
    expect(redacted.hidden).toEqual(hidden);
    expect(redacted.value).toEqual(defaultRedactor.value(value));
  });

  it('are found for a custom redactor with any replacement', () => {
    const own: Redactor = {
      text: (text) => text,
      value: <T>(value: T): T => {
        const { ssn: _, list, ...rest } = value as { ssn: string; list: readonly string[] };
        return { ...rest, pin: null, list: list.slice(1), note: 'added' } as T;
      },
      isSecretKey: () => false,
    };
    const { hidden } = redactedWithPaths(own, { ssn: '1', pin: 7, list: ['a', 'b'], ok: true });
    expect(hidden).toEqual(['/ssn', '/pin', '/list']);
    const copying: Redactor = { ...own, value: (value) => structuredClone(value) };
    expect(redactedWithPaths(copying, { a: [1, { b: 2 }] }).hidden).toEqual([]);
  });

  it('are found if a custom redactor adds names', () => {
    const own: Redactor = {
      text: (text) => text,
      value: <T>(value: T): T => ({ in: { ...(value as { in: object }).in, note: 'cut' } }) as T,
      isSecretKey: () => false,
    };
    expect(redactedWithPaths(own, { in: { a: 1 } }).hidden).toEqual(['/in']);
  });

  it('are bounded: by the outermost names, or by the whole value', () => {
    const many = Array.from({ length: 100 }, () => ({ token: 'x' }));
    expect(redactedWithPaths(defaultRedactor, { a: many, b: many }).hidden).toEqual(['/a', '/b']);
    const names = Object.fromEntries(many.map((item, i) => [`n${i}`, item]));
    expect(redactedWithPaths(defaultRedactor, names).hidden).toEqual(['']);
    const long = 'x'.repeat(500);
    expect(redactedWithPaths(defaultRedactor, { a: { [long]: { token: 'x' } } }).hidden).toEqual([
      '/a',
    ]);
  });

  it('cover every difference', () => {
    const redactor = createRedactor({ keys: ['hush'] });
    const leaf = fc.oneof(fc.constant('plain'), fc.constant(KEY), fc.integer(), fc.constant(null));
    const key = fc.constantFrom('a', 'hush', 'a/b', '~', '__proto__', 'constructor', KEY);
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const { value: shown, hidden } = redactedWithPaths(redactor, value);
        const covers = (path: readonly string[]): boolean =>
          hidden.some((each) => (pointerKeys(each) ?? []).every((part, i) => part === path[i]));
        const look = (before: unknown, after: unknown, path: readonly string[]): void => {
          if (typeof before !== 'object' || before === null) {
            if (before !== after) expect([path, covers(path)]).toEqual([path, true]);
            return;
          }
          for (const [name, inner] of Object.entries(before))
            look(inner, childOf(after, name), [...path, redactor.text(name)]);
        };
        look(value, shown, []);
      }),
      { numRuns: 300 },
    );
  });
});
