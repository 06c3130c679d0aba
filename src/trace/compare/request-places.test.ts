import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../errors/redactor.ts';
import { Message } from '../../messages/message.ts';
import { Messages } from '../../messages/messages.ts';
import { causeOf } from './request-places.ts';

type Side = Parameters<typeof causeOf>[0];

const keyLine = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj';

/** A request whose secrets only show by what is around them. */
const side = (name: string): Side => ({
  status: 'stored',
  redactor: createRedactor({ keys: ['vault'] }),
  request: {
    system: `You are ${name}.\n-----BEGIN PRIVATE KEY-----\n${keyLine}${name}\n-----END PRIVATE KEY-----\nBe kind.`,
    messages: Messages.from([
      Message.user([
        { type: 'text', text: 'look' },
        {
          type: 'image',
          url: `https://x.example/${'p'.repeat(120)}?api_key=sk-live-0123456789abcdef${name}`,
        },
      ]),
      Message.assistant(`I look, ${name}.`, {
        toolCalls: [{ id: 'c1', name: 'read', args: { vault: { door: `swordfish-${name}` } } }],
      }),
    ]),
    tools: [
      {
        name: 'read',
        description: name,
        parameters: { type: 'object', default: { vault: ['swordfish'] } },
      },
    ] as never,
    toolChoice: 'auto',
    responseFormat: null,
  },
});

describe('the places in which two requests differ', () => {
  it('are redacted as a whole, before they are split into lines and joined', () => {
    const { places } = causeOf(side('ann'), side('bob'));
    const shown = JSON.stringify(places);
    for (const secret of [keyLine.slice(0, 20), 'swordfish', '0123456789abcdef'])
      expect(shown).not.toContain(secret);
    expect(places.map(({ where }) => where)).toEqual([
      'system prompt, line 1',
      'tool read',
      'message 1 (user)',
      'message 2 (assistant)',
    ]);
    expect(places[0]).toMatchObject({ left: 'You are ann.', right: 'You are bob.' });
    expect(places[3]!.left).toContain('I look, ann.');
    expect(places[3]!.right).toContain('→ read {"vault":"[redacted]"}');
  });

  it('name a secret that differs, without it', () => {
    const changed = (secret: string): Side => {
      const { request, ...rest } = side('ann');
      return { ...rest, request: request && { ...request, system: `password: ${secret}` } };
    };
    expect(causeOf(changed('hunter22'), changed('swordfish')).places).toEqual([
      expect.objectContaining({ where: 'system prompt', left: '[redacted]', right: '[redacted]' }),
    ]);
  });

  it('are none for equal requests', () => {
    expect(causeOf(side('ann'), side('ann'))).toEqual({
      status: 'stored',
      places: [],
      hasMore: false,
    });
  });
});
