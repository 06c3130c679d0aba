import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentError } from './agent-error.ts';
import { createRedactor, defaultRedactor, REDACTED } from './redactor.ts';

const { text, value, isSecretKey } = defaultRedactor;

describe('keys', () => {
  it.each([
    'password',
    'Password',
    'PASSWORD',
    'passwd',
    'passphrase',
    'secret',
    'client_secret',
    'clientSecret',
    'api_key',
    'api-key',
    'apiKey',
    'x-api-key',
    'authorization',
    'Authorization',
    'Proxy-Authorization',
    'token',
    'access_token',
    'refreshToken',
    'id_token',
    'auth.token',
    'session_token',
    'private_key',
    'accessKey',
    'AWS_SECRET_ACCESS_KEY',
    'cookie',
    'Set-Cookie',
    'credentials',
    'connectionString',
    'dbPassword',
    'OPENAI_API_KEY',
    'stripe_secret_key',
    'github access token',
  ])('%s is secret', (key) => {
    expect(isSecretKey(key)).toBe(true);
    expect(value({ [key]: 'hunter2' })).toEqual({ [key]: REDACTED });
    expect(value({ list: [{ [key]: { user: 'bob', pin: 'hunter2' } }] })).toEqual({
      list: [{ [key]: REDACTED }],
    });
  });

  it.each([
    ['keyword', 'not every key is a key'],
    ['tokens', 'a count or a list of words'],
    ['max_tokens', 'a count'],
    ['nextPageToken', 'the model needs it for the next call'],
    ['secretary', 'a person'],
    ['passenger', 'a person too'],
    ['cookies_accepted', 'a setting'],
    ['author', 'a name'],
  ])('%s is not: %s', (key) => {
    expect(isSecretKey(key)).toBe(false);
    expect(value({ [key]: 'open' })).toEqual({ [key]: 'open' });
  });

  it.each([[0], [120], [true], [null], [''], [undefined]])('%s under `token` stays', (inner) => {
    expect(value({ token: inner })).toEqual({ token: inner });
  });

  it('hides a key that is itself a secret', () => {
    const keyed = { 'sk-live-abcdefghijklmnop1234': 'active', other: 1 };
    expect(value(keyed)).toEqual({ [REDACTED]: 'active', other: 1 });
  });
});

const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N';

describe('patterns', () => {
  it.each([
    ['an OpenAI key', 'sk-abcdefghijklmnopqrstuvwx'],
    ['an OpenAI project key', 'sk-proj-Ab1_Cd2-Ef3Gh4Ij5Kl6Mn7'],
    ['an Anthropic key', 'sk-ant-api03-AbCdEfGhIjKlMnOpQrSt_uvwx-yz'],
    ['a Stripe key', 'sk_live_51AbCdEfGhIjKlMnOp'],
    ['a bearer token', 'Bearer abcdef1234567890'],
    ['a bearer token over a line break', 'bearer\n  abcdef1234567890'],
    ['a GitHub token', 'ghp_abcdefghijklmnopqrstuvwxyz0123'],
    ['a fine-grained GitHub token', 'github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv'],
    ['a Slack token', 'xoxb-123456789012-abcdefABCDEF'],
    ['an AWS key id', 'AKIAIOSFODNN7EXAMPLE'],
    ['a Google key', 'AIzaSyA-1234567890abcdefghijklmnopqrs'],
    ['a JWT', jwt],
    ['a private key', '-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----'],
    ['an incomplete private key', '-----BEGIN PRIVATE KEY-----\nMIIEabc'],
  ])('%s is hidden between words and on its own', (_what, secret) => {
    expect(text(secret)).toBe(REDACTED);
    const end = secret.includes('cut') || !secret.includes('END') ? '' : ' behind';
    expect(text(`before ${secret}${end}`)).toBe(`before ${REDACTED}${end}`);
    expect(value({ note: [secret] })).toEqual({ note: [REDACTED] });
  });

  it.each([
    [
      'postgres://app:hunter2@db.internal:5432/orders',
      'postgres://app:[redacted]@db.internal:5432/orders',
      'the password of an address',
    ],
    [
      'redis://:p@ss@cache:6379',
      'redis://:[redacted]@cache:6379',
      'a password with an @ in it, without a user',
    ],
    [
      'GET https://maps.example.com/geo?api_key=abc123&city=Rome failed',
      'GET https://maps.example.com/geo?api_key=[redacted]&city=Rome failed',
      'a key in the query of an address',
    ],
    [
      'DB_PASSWORD=hunter2 PORT=5432',
      'DB_PASSWORD=[redacted] PORT=5432',
      'a dump of the environment',
    ],
    [
      'Authorization: Basic dXNlcjpodW50ZXIy',
      'Authorization: Basic [redacted]',
      'a header without a bearer token',
    ],
  ])('%s -> %s (%s)', (input, expected) => {
    expect(text(input)).toBe(expected);
  });

  it.each([
    ['risk-averse-investors-of-this-world', 'words with dashes'],
    ['Basic understanding of authorization', 'plain words'],
    ['password: Too small: expected string to have >=8 characters', 'a message about a field'],
    ['See https://example.com/a?page=2&token_count=5', 'an address without secrets'],
    ['mira@example.com: hello', 'a mail address'],
    ['a = b, x==1', 'code'],
    ['eyJ is how they all begin', 'part of a pattern'],
  ])('%s stays (%s)', (input) => {
    expect(text(input)).toBe(input);
  });
});

describe('JSON inside strings', () => {
  const inner = { user: 'bob', password: 'hunter2', note: 'x' };
  const once = JSON.stringify(inner);
  const twice = JSON.stringify({ body: once });
  const thrice = JSON.stringify({ envelope: twice });

  it.each([
    ['whole', once],
    ['indented', JSON.stringify(inner, null, 2)],
    ['inside JSON', twice],
    ['inside JSON inside JSON', thrice],
    ['in an array', JSON.stringify([inner])],
    ['between words', `request failed with ${once}, try again`],
    ['escaped, between words', `request failed with ${twice}, try again`],
    ['escaped twice, between words', `request failed with ${thrice}, try again`],
    ['truncated after the secret', once.slice(0, once.indexOf('note'))],
    ['truncated inside the secret', once.slice(0, once.indexOf('ter2'))],
    ['truncated inside, escaped', twice.slice(0, twice.indexOf('ter2'))],
    ['like Python prints it', "{'user': 'bob', 'password': 'hunter2'}"],
    ['after a path that ends in a backslash', String.raw`x {"path":"C:\\","password":"hunter2"}`],
    ['with quotes in the secret', String.raw`x {"password":"a\"hunter2\"","user":"bob"}`],
    ['an object under a secret key', '{"credentials":{"pin":"hunter2"}}'],
  ])('%s', (_how, input) => {
    const output = text(input);
    expect(output).not.toContain('hun');
    expect(output).toContain(REDACTED);
    if (input.includes('bob')) expect(output).toContain('bob');
    expect(value({ deep: [input] })).toEqual({ deep: [output] });
  });

  it('JSON without secrets keeps its formatting', () => {
    const spaced = '{ "user" : "bob",\n "n": 1.0 }';
    expect(text(spaced)).toBe(spaced);
  });

  it('an empty secret stays visible as empty', () => {
    expect(text('x {"password":"","user":"bob"}')).toBe('x {"password":"","user":"bob"}');
  });

  it('hides every secret in JSON, at any depth of escaping', () => {
    const anySecret = fc.string({ minLength: 8, unit: 'binary' }).filter((s) => !s.includes('red'));
    fc.assert(
      fc.property(anySecret, fc.nat(3), fc.boolean(), (secret, depth, isWhole) => {
        let json = JSON.stringify({ user: 'bob', password: secret, after: 'yes' });
        for (let i = 0; i < depth; i++) json = JSON.stringify({ body: json });
        const clean = text(isWhole ? json : `failed: ${json}`);
        const quoted = JSON.stringify(secret).slice(1, -1);
        expect(clean).not.toContain(quoted);
        expect(clean).toContain('yes');
      }),
    );
  });

  // no clock: with a pattern that searches again from each position, these take minutes
  it.each(
    [
      ' ',
      '\\',
      '"',
      ':',
      '=',
      '[',
      'sk-',
      'eyJ-',
      'eyJaaaaaaaa.',
      '://a:',
      '"key":"',
      '"ab" ',
      'Bearer ',
      'authorization: basic ',
      '-----BEGIN ',
      '\\"b\\":\\"',
    ].flatMap((piece) => [
      [piece, piece.repeat(500_000 / piece.length)],
      [`x, ${piece}`, `authorization: "password":"${piece.repeat(500_000 / piece.length)}:x`],
    ]),
  )('half a megabyte of %j takes linear time', (_piece, input) => {
    expect(text(input)).toBeTypeOf('string');
  });

  it('D43: hides or reads as text what is nested deeper than the stack allows, without an error', () => {
    const depth = 50_000;
    const deep = `${'['.repeat(depth)}{"password":"hunter2"}${']'.repeat(depth)}`;
    expect(text(deep)).toBe(deep.replace('hunter2', REDACTED));
    const seen = JSON.stringify(value(JSON.parse(deep)));
    expect(seen).not.toContain('hunter2');
    expect(seen).toContain(REDACTED);
  });
});

describe('custom keys and patterns', () => {
  const custom = createRedactor({ keys: ['iban', 'Social-Security'], patterns: [/\bCUST-\d+/] });

  it('are added to the built-in ones', () => {
    const seen = custom.value({
      IBAN: 'DE02 1203 0000 0000 2020 51',
      social_security: '078-05-1120',
      note: 'CUST-1 and CUST-22, Bearer abcdef1234567890',
      password: 'x',
    });
    expect(seen).toEqual({
      IBAN: REDACTED,
      social_security: REDACTED,
      note: `${REDACTED} and ${REDACTED}, ${REDACTED}`,
      password: REDACTED,
    });
  });

  it('a pattern applies to the text of JSON and to its strings', () => {
    const cards = createRedactor({ patterns: [/"pin":\s*\d+/] });
    expect(cards.text('{"pin": 1234}')).toBe(`{${REDACTED}}`);
  });

  it('a pattern with the global flag hides every match, call after call', () => {
    const shared = createRedactor({ patterns: [/x\d/g] });
    expect([shared.text('x1 x2'), shared.text('x1 x2')]).toEqual(
      Array(2).fill(`${REDACTED} ${REDACTED}`),
    );
  });

  it('do not change the default redactor', () => {
    expect(defaultRedactor.text('CUST-1')).toBe('CUST-1');
    expect(defaultRedactor.isSecretKey('iban')).toBe(false);
  });

  it.each([
    [{ patterns: ['secret'] as never }, /createRedactor patterns got "secret"/],
    [{ keys: [5] as never }, /createRedactor keys got 5/],
    [{ keys: [''] }, /createRedactor keys got ""/],
  ])('rejects %j', (options, message) => {
    expect(() => createRedactor(options)).toThrow(message);
    try {
      createRedactor(options);
    } catch (error) {
      expect(AgentError.is(error, 'invalid_option')).toBe(true);
    }
  });
});

describe('values', () => {
  const frozen = Object.freeze({
    args: Object.freeze({ password: 'hunter2', deep: Object.freeze([{ token: 'abc' }]) }),
    plain: Object.freeze({ n: 1 }),
  });

  it('never changes its input', () => {
    const before = structuredClone(frozen);
    const seen = value(frozen);
    expect(frozen).toEqual(before);
    expect(seen).toEqual({
      args: { password: REDACTED, deep: [{ token: REDACTED }] },
      plain: { n: 1 },
    });
  });

  it('returns the same object if it has no secret', () => {
    const clean = { a: [1, 'two', { three: null }], b: { c: 'd' } };
    expect(value(clean)).toBe(clean);
    expect(value(frozen).plain).toBe(frozen.plain);
    expect(value(clean.a)).toBe(clean.a);
  });

  it.each([[null], [undefined], [1], [true], ['plain']])('%s passes', (input) => {
    expect(value(input)).toBe(input);
  });

  it('reads objects with toJSON through it', () => {
    const at = new Date(0);
    const holder = { toJSON: () => ({ password: 'hunter2' }) };
    expect(value({ at, holder })).toEqual({
      at: '1970-01-01T00:00:00.000Z',
      holder: { password: REDACTED },
    });
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const once = value(json);
        expect(value(once)).toEqual(once);
      }),
    );
  });
});

it('detects custom names in letters of another alphabet', () => {
  const redactor = createRedactor({ keys: ['tax_id'] });
  expect(redactor.value({ taх_id: 'DE1', 'Tax-Id': 'DE2', tax: 'DE3' })).toEqual({
    taх_id: REDACTED,
    'Tax-Id': REDACTED,
    tax: 'DE3',
  });
});
