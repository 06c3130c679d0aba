import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalJson,
  isHarmless,
  isRecord,
  jsonCopy,
  jsonText,
  own,
  parseJson,
  parsePartialJson,
  toJsonValue,
  withoutFence,
} from './json.ts';

describe('parseJson', () => {
  it('returns the value or an error', () => {
    expect(parseJson('{"a":[1,null]}')).toEqual({ ok: true, value: { a: [1, null] } });
    expect(parseJson('')).toEqual({ ok: false, error: expect.any(String) as string });
  });

  it.each([
    '{"password": hunter2}',
    'hunter2',
    '{"password": "hunter2}',
    '{"password": "hunter2", }',
    '["hunter2" "hunter2"]',
    '{"a": 1} hunter2',
    'undefined hunter2',
    `{"${'x'.repeat(80)}": hunter2, "b": 1}`,
  ])('D43: the error does not quote the text: %s', (text) => {
    const parsed = parseJson(text);
    expect(parsed.ok).toBe(false);
    const { error } = parsed as { error: string };
    expect(error).not.toContain('hunter');
    expect(error.length).toBeGreaterThan(5);
    expect(error).not.toMatch(/[\s,"]$/);
  });
});

describe('parsePartialJson', () => {
  it.each<[string, unknown]>([
    ['{"a":1}', { a: 1 }],
    ['{"a":1', { a: 1 }],
    ['{"a":1,', { a: 1 }],
    ['{"a":1, ', { a: 1 }],
    ['{"a":1,"b', { a: 1 }],
    ['{"a":1,"b"', { a: 1 }],
    ['{"a":1,"b":', { a: 1 }],
    ['{"a":1,"b":tr', { a: 1 }],
    ['{"a":1,"b":-', { a: 1 }],
    ['{"a":1,"b":2.', { a: 1 }],
    ['{"a":1,"b":2.5e', { a: 1 }],
    ['{"a":1,"b":"hel', { a: 1, b: 'hel' }],
    ['{"a":1,"b":"hel\\', { a: 1, b: 'hel' }],
    ['{"a":1,"b":"hel\\\\', { a: 1, b: 'hel\\' }],
    ['{"a":1,"b":"hel\\"', { a: 1, b: 'hel"' }],
    ['{"a":1,"b":"\\u00e', { a: 1, b: '' }],
    ['{"a":1,"b":"caf\\u', { a: 1, b: 'caf' }],
    ['{"a":1,"b":"caf\\u00e9', { a: 1, b: 'café' }],
    ['{"a":{"b":[1,{"c":"d', { a: { b: [1, { c: 'd' }] } }],
    ['{"a":[', { a: [] }],
    ['{', {}],
    ['{"', {}],
    ['[', []],
    ['[1,2', [1, 2]],
    ['[1,"tw', [1, 'tw']],
    ['"hel', 'hel'],
    ['{"a":"b, c: {', { a: 'b, c: {' }],
    ['```json\n{"a":1,"b', { a: 1 }],
    ['```json\n{"a":1}\n```', { a: 1 }],
    ['  {"a":1  ', { a: 1 }],
    ['', undefined],
    ['Sorry, I cannot', undefined],
    ['{a: 1', undefined],
    ['{"a": 1} and more', undefined],
  ])('%j', (text, expected) => {
    expect(parsePartialJson(text)).toEqual(expected);
  });

  const long = 200_000;
  it.each<[string, string, unknown]>([
    ['blanks before a stray letter', `{"a":1${' '.repeat(long)}x`, { a: 1 }],
    ['blanks after a key', `{"a":1,"b"${' '.repeat(long)}x`, undefined],
    ['line ends after a colon', `{"a":1,"b":${'\n'.repeat(long)}x!`, undefined],
    ['digits', `{"a":${'1'.repeat(long)}!`, undefined],
    ['open lists', '['.repeat(long), expect.any(Array)],
  ])(
    'takes linear time: 200,000 %s',
    (_what, text, expected) => {
      expect(parsePartialJson(text)).toEqual(expected);
    },
    3_000,
  );

  it('reads an object truncated anywhere as an object without new keys', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
        fc.nat(),
        (object, n) => {
          const text = JSON.stringify(object);
          const cut = text.slice(0, 1 + (n % text.length));
          const read = parsePartialJson(cut);
          expect(isRecord(read)).toBe(true);
          const whole = JSON.parse(text) as Record<string, unknown>;
          for (const key of Object.keys(read as object))
            expect(Object.hasOwn(whole, key)).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('canonicalJson', () => {
  it('D14: is the same text for the same value in any order of keys', () => {
    const a = { b: 1, a: { y: [1, { q: 2, p: 3 }], x: null }, 10: 'n', 9: 'm' };
    const b = { 9: 'm', a: { x: null, y: [1, { p: 3, q: 2 }] }, 10: 'n', b: 1 };
    expect(canonicalJson(a)).toBe(canonicalJson(b));
    expect(canonicalJson({ b: 1, a: [2, 1] })).toBe('{"a":[2,1],"b":1}');
  });

  it.each<[unknown, unknown]>([
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: 1 }, { a: '1' }],
    [{ a: null }, {}],
    [{ a: {} }, { a: [] }],
  ])('%j is not %j', (a, b) => {
    expect(canonicalJson(a)).not.toBe(canonicalJson(b));
  });

  it('holds for any value and any order', () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (!isRecord(value)) return value;
      const entries = Object.entries(value).map(([k, v]) => [k, reversed(v)] as const);
      return Object.fromEntries(entries.toReversed());
    };
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(canonicalJson(reversed(plain))).toBe(canonicalJson(plain));
        expect(JSON.parse(canonicalJson(plain))).toEqual(plain);
      }),
    );
  });
});

describe('toJsonValue', () => {
  it.each<[unknown, unknown]>([
    [undefined, null],
    [() => 1, null],
    [Number.NaN, null],
    [Number.POSITIVE_INFINITY, null],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [{ a: undefined, b: new Map() }, { b: {} }],
    [[undefined], [null]],
    ['text', 'text'],
    [false, false],
  ])('converts %s like JSON', (value, expected) => {
    expect(toJsonValue(value)).toEqual(expected);
  });

  it('is detached from the original', () => {
    const original = { list: [1] };
    const kept = toJsonValue(original) as { list: number[] };
    original.list.push(2);
    expect(kept).toEqual({ list: [1] });
  });

  it('throws if JSON cannot represent the value', () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    expect(() => toJsonValue(loop)).toThrow(TypeError);
    expect(() => toJsonValue({ n: 1n })).toThrow(TypeError);
  });
});

describe('withoutFence', () => {
  it.each([
    ['```json\n{"a":1}\n```', '{"a":1}'],
    ['```\n{"a":1}\n```\n', '{"a":1}'],
    ['```json\r\n{"a":1}\r\n```', '{"a":1}'],
    ['```{"a":1}```', '{"a":1}'],
    ['  {"a":1} ', '{"a":1}'],
    ['see ```json\n{}\n```', 'see ```json\n{}\n```'],
    ['', ''],
  ])('%j -> %j', (text, expected) => {
    expect(withoutFence(text)).toBe(expected);
  });
});

it.each([
  [{}, true],
  [Object.create(null), true],
  [[], false],
  [null, false],
  ['a', false],
  [undefined, false],
])('isRecord(%j) is %s', (value: unknown, expected) => {
  expect(isRecord(value)).toBe(expected);
});

describe('foreign JSON', () => {
  const nested = (levels: number): unknown =>
    JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;

  it('has at most 64 levels', () => {
    expect([1, 64, 65, 200_000].map((levels) => isHarmless(nested(levels)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect([null, 5, 'text', undefined].every((value) => isHarmless(value))).toBe(true);
  });

  it('is truncated with a note if it has more', () => {
    expect(jsonCopy(nested(64))).toEqual({ value: nested(64), isTruncated: false });
    for (const levels of [65, 200_000]) {
      const { value, isTruncated } = jsonCopy(nested(levels));
      expect(isTruncated).toBe(true);
      expect(isHarmless(value)).toBe(true);
      expect(JSON.stringify(value)).toContain('[cut: nested deeper than 64 levels]');
    }
    expect(canonicalJson(nested(200_000))).toContain('[cut');
  });

  it('that overflows the stack is written, and is still too deep', () => {
    const text = jsonText(nested(200_000))!;
    expect(isHarmless(JSON.parse(text))).toBe(false);
    expect(jsonText({ toJSON: () => 'x' })).toBe('"x"');
    expect(jsonText(undefined)).toBeUndefined();
    const loop: unknown[] = [];
    loop.push(loop);
    expect(() => jsonText(loop)).toThrow(TypeError);
  });

  it('loses keys named __proto__ at any depth', () => {
    const value = JSON.parse('{"a":[{"__proto__":{"x":1},"b":2}],"__proto__":null}') as object;
    expect(jsonCopy(value).value).toEqual({ a: [{ b: 2 }] });
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
  });

  it('own() finds no inherited property', () => {
    const record = JSON.parse('{"a":1,"__proto__":2}') as Record<string, number>;
    expect(
      ['a', '__proto__', 'b', 'constructor', 'toString'].map((key) => own(record, key)),
    ).toEqual([1, 2, undefined, undefined, undefined]);
  });
});

it('has no __proto__ in a truncated copy, at any depth', () => {
  const deep = `${'['.repeat(70)}${']'.repeat(70)}`;
  const evil = '{"__proto__":{"admin":true},"ok":1}';
  const { value, isTruncated } = jsonCopy(
    JSON.parse(`{"first":${evil},"deep":${deep},"last":[${evil}]}`),
  );
  expect(isTruncated).toBe(true);
  expect(JSON.stringify(value)).not.toMatch(/__proto__|admin/);
  expect(value).toMatchObject({ first: { ok: 1 }, last: [{ ok: 1 }] });
});
