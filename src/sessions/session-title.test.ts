import { describe, expect, it } from 'vitest';
import { createRedactor, defaultRedactor } from '../errors/redactor.ts';
import { Message } from '../messages/message.ts';
import { shownTitle, titleOf } from './session-title.ts';

const titled = (...messages: readonly Message[]) => titleOf(messages, defaultRedactor);
const SECRET = 'sk-live-abcdefghijklmnop1234567890';

describe('the title of a session', () => {
  it.each([
    ['Find leads in Kiel', 'Find leads in Kiel'],
    ['  Find\n\n  leads\tin Kiel ', 'Find leads in Kiel'],
    ['x'.repeat(80), 'x'.repeat(80)],
    ['x'.repeat(81), `${'x'.repeat(79)}…`],
    ['word '.repeat(30), `${'word '.repeat(15).trim()}…`],
    ['😀'.repeat(100), `${'😀'.repeat(79)}…`],
  ])('of %j is %j', (text, title) => {
    expect(titled(Message.user(text))).toBe(title);
  });

  it('is the first text of the user', () => {
    const image = Message.user([{ type: 'image', url: 'https://example.com/a.png' }]);
    const synthetic = Message.user('continue', { metadata: { synthetic: true } });
    expect(
      titled(Message.system('Be kind.'), Message.assistant('Hello.'), image, synthetic),
    ).toBeUndefined();
    const mixed = Message.user([
      { type: 'image', url: 'https://example.com/a.png' },
      { type: 'text', text: 'What is this?' },
    ]);
    expect(titled(image, synthetic, mixed, Message.user('later'))).toBe('What is this?');
  });

  it('D43: redacts a secret before truncation can split it', () => {
    for (let pad = 0; pad < 90; pad++)
      expect(titled(Message.user(`${'a '.repeat(pad / 2)} ${SECRET}`))).not.toMatch(/sk-live/);
    // also if redaction shortens the text so much that the end of the read part is shown
    const key = `-----BEGIN PRIVATE KEY-----${'x'.repeat(1_900)}-----END PRIVATE KEY-----`;
    for (let pad = 0; pad < 60; pad++)
      expect(titled(Message.user(`${key} ${'b'.repeat(pad)} ${SECRET}`))).not.toMatch(/sk-live/);
  });

  it('prefers the given title, and redacts both with the current redactor', () => {
    const strict = createRedactor({ patterns: [/Kiel/] });
    expect(shownTitle({}, undefined, strict)).toBeNull();
    expect(shownTitle({ title: '' }, 'Leads in Kiel', strict)).toBe('Leads in [redacted]');
    expect(shownTitle({ title: 7 }, 'found', strict)).toBe('found');
    expect(shownTitle({ title: ' My\nKiel ' }, 'found', strict)).toBe('My [redacted]');
  });
});
