import { describe, expect, it } from 'vitest';
import { readChat } from '../../../test/setup/read-chat.ts';
import { aiSdkError } from './ai-sdk-error.ts';
import { providerError } from './provider-error.ts';

const secret = 'sk-proj-Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9';
const rejection = (fields: Record<string, unknown>) =>
  aiSdkError(Object.assign(new Error('Invalid.'), { name: 'AI_JSONParseError' }, fields), 0);

/** Each place that shortens a provider's text for an error, and its limit. */
const readers: [string, number, (text: string) => string][] = [
  ['a page instead of an answer', 120, (text) => readChat(text).failure?.report.message ?? ''],
  [
    'a long provider message',
    2_000,
    (message) => providerError(400, {}, JSON.stringify({ error: { message } }), 0).message,
  ],
  ['a long error page', 300, (page) => providerError(500, {}, page, 0).message],
  ['a rejected answer', 500, (text) => rejection({ text }).message],
  [
    'a reason of a package',
    500,
    (message) => aiSdkError(Object.assign(new TypeError(message)), 0).message,
  ],
];

describe.each(readers)('%s', (_what, limit, read) => {
  it('shows no part of a secret, wherever it is truncated', () => {
    for (let at = limit - secret.length - 10; at <= limit + 10; at++) {
      const text = `${'w '.repeat(Math.ceil(at / 2)).slice(0, at)} ${secret} ${'more '.repeat(1_000)}`;
      const message = read(text);
      expect(message).toMatch(/w w/);
      expect(message).not.toContain('sk-');
      expect(message.length).toBeLessThan(limit + 200);
    }
  });
});
