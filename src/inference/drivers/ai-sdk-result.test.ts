import { describe, expect, it } from 'vitest';
import { hostileSvg, pdf, png } from '../../../test/setup/content-samples.ts';
import type { ContentPart } from '../../messages/content-part.ts';
import { Message } from '../../messages/message.ts';
import { resultOutput } from './ai-sdk-result.ts';

const heic = btoa('\0\0\0\x18ftypheic\0\0\0\0mif1heic');
const parts = {
  png: { type: 'image', data: png, mediaType: 'image/png' },
  svg: { type: 'image', data: hostileSvg, mediaType: 'image/svg+xml' },
  heic: { type: 'image', data: heic, mediaType: 'image/heic' },
  address: { type: 'image', url: 'https://example.com/x' },
  bucket: { type: 'image', url: 's3://bucket/a.png' },
  pdf: { type: 'file', data: pdf, mediaType: 'application/pdf', filename: 'a.pdf' },
  csv: { type: 'file', data: btoa('a,b'), mediaType: 'text/csv' },
  mp3: { type: 'file', data: btoa('ID3 sound'), mediaType: 'audio/mpeg' },
} as const satisfies Record<string, ContentPart>;

const typesFor = (provider: string, version: string): string =>
  Object.entries(parts)
    .filter(([, part]) => {
      const output = resultOutput(Message.tool('c', [part]), { provider, version });
      return !JSON.stringify(output).includes('left out');
    })
    .map(([name]) => name)
    .join(' ');

describe('parts that a package sends', () => {
  it.each([
    ['openai.responses', 'v2', 'png pdf csv'],
    ['openai.responses', 'v3', 'png address pdf csv'],
    ['azure.responses', 'v4', 'png address pdf csv'],
    ['openai.chat', 'v3', ''],
    ['anthropic.messages', 'v2', 'png pdf'],
    ['anthropic.messages', 'v3', 'png address pdf'],
    ['vertex.anthropic.messages', 'v3', 'png address pdf'],
    ['bedrock.anthropic.messages', 'v3', 'png address pdf'],
    ['google.generative-ai', 'v3', 'png heic pdf csv mp3'],
    ['google.vertex.chat', 'v4', 'png heic pdf csv mp3'],
    // its package throws for files and addresses
    ['amazon-bedrock', 'v3', 'png'],
    ['mistral.chat', 'v3', ''],
  ])('%s, specification %s: %s', (provider, version, expected) => {
    expect(typesFor(provider, version)).toBe(expected);
  });

  it.each([
    ['v2', { type: 'media', data: png, mediaType: 'image/png' }],
    ['v3', { type: 'image-data', data: png, mediaType: 'image/png' }],
    ['v4', { type: 'file', data: { type: 'data', data: png }, mediaType: 'image/png' }],
  ])('have the form of specification %s', (version, expected) => {
    const message = Message.tool('c', [parts.png]);
    expect(resultOutput(message, { provider: 'anthropic.messages', version })).toEqual({
      type: 'content',
      value: [expected],
    });
  });

  it.each(['error', 'denied', 'blocked', 'aborted', 'timeout'])('%s is an error', (kind) => {
    const message = Message.tool('c', 'No.', { metadata: { toolResult: { kind } } });
    expect(resultOutput(message, { provider: 'any', version: 'v3' })).toEqual({
      type: 'error-text',
      value: 'No.',
    });
  });
});
