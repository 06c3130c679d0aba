// @vitest-environment happy-dom
import { renderHook, waitFor } from '@testing-library/react';
import { expect, it } from 'vitest';
import { useMarkdown } from '../../src/console/chat/use-markdown.ts';

const growing = (text: string) =>
  renderHook(({ given, isStreaming }) => useMarkdown(given, isStreaming), {
    initialProps: { given: text, isStreaming: true },
  });
const words = (nodes: ReturnType<typeof useMarkdown>): string =>
  nodes.map(({ raw }) => raw).join('\n\n');

/** Takes far longer to read than a frame lasts. */
const long = '**one** _two_ `three` [four](https://example.com)\n\n'.repeat(5_000).trimEnd();

it('D92: a long text that grows is not read with every piece, and never left behind', async () => {
  const { result, rerender } = growing(long);
  const before = result.current;
  for (const given of [`${long} a`, `${long} a b`]) {
    rerender({ given, isStreaming: true });
    expect(result.current).toBe(before);
  }
  await waitFor(() => expect(words(result.current)).toBe(`${long} a b`), { timeout: 30_000 });
}, 60_000);

it('is read at once where that is quick, where the text ends and where another one begins', () => {
  const short = growing('one');
  short.rerender({ given: 'one two', isStreaming: true });
  expect(words(short.result.current)).toBe('one two');
  const { result, rerender } = growing(long);
  rerender({ given: 'new', isStreaming: true });
  expect(words(result.current)).toBe('new');
  rerender({ given: long, isStreaming: true });
  rerender({ given: `${long} end`, isStreaming: false });
  expect(words(result.current)).toBe(`${long} end`);
}, 60_000);
