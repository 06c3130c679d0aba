import { describe, expect, it } from 'vitest';
import { attachmentProblemText } from './attachment-problem-text.ts';
import { readAttachments } from './read-attachments.ts';

const limits = { maxBytes: 100, maxCount: 3 };
const file = (name: string, bytes: number, type = 'text/plain'): File =>
  new File([new Uint8Array(bytes).fill(65)], name, { type });

describe('attachments', () => {
  it('are read as base64, raster images as images', async () => {
    const { files, problems } = await readAttachments(
      [file('a.png', 3, 'image/png'), file('b.svg', 3, 'image/svg+xml'), file('c', 3, '')],
      [],
      limits,
    );
    expect(problems).toEqual([]);
    expect(files.map(({ type, media_type }) => `${type} ${media_type}`)).toEqual([
      'image image/png',
      'file image/svg+xml',
      'file application/octet-stream',
    ]);
    expect(files[0]).toMatchObject({ data: 'QUFB', filename: 'a.png', bytes: 3 });
  });

  it('keep the bytes of a large file', async () => {
    const bytes = new Uint8Array(200_000).map((_, i) => i % 251);
    const { files } = await readAttachments([new File([bytes], 'x')], [], {
      maxBytes: 1e6,
      maxCount: 1,
    });
    expect(Buffer.from(files[0]!.data, 'base64').equals(Buffer.from(bytes))).toBe(true);
  });

  it('are bounded together in size, number and name', async () => {
    const [first] = (await readAttachments([file('a', 60)], [], limits)).files;
    const { files, problems } = await readAttachments(
      [file('b', 60), file('', 0), file('x'.repeat(900), 10), file('c', 10), file('d', 1)],
      [first!],
      limits,
    );
    expect(files.map(({ filename }) => filename.length)).toEqual([200, 1]);
    expect(problems.map(({ reason }) => reason)).toEqual(['size', 'empty', 'count']);
    expect(problems.map((problem) => attachmentProblemText(problem, limits))).toEqual([
      'b is too large (60 bytes): all files of a message may have 100 bytes.',
      '"" is empty.',
      'd is one too many: send 3 files at a time.',
    ]);
  });

  it('name no type that is not one, and say that a file cannot be read', async () => {
    const odd = Object.defineProperty(file('x', 1), 'type', { value: 'text/html,<script>' });
    const gone = Object.defineProperty(file('y', 1), 'arrayBuffer', {
      value: () => Promise.reject(new Error('gone')),
    });
    const { files, problems } = await readAttachments([odd, gone], [], limits);
    expect(files[0]?.media_type).toBe('application/octet-stream');
    expect(problems.map((problem) => attachmentProblemText(problem, limits))).toEqual([
      'y cannot be read. Choose it again.',
    ]);
  });
});
