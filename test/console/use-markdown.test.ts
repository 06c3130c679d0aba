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

/** Takes much longer to parse than one frame. */
const long = '**one** _two_ `three` [four](https://example.com)\n\n'.repeat(5_000).trimEnd();

it('D92: does not parse a long text with every chunk, but shows all of it in the end', async () => {
  const { result, rerender } = growing(long);
  const before = result.current;
  for (const given of [`${long} a`, `${long} a b`]) {
    rerender({ given, isStreaming: true });
    expect(result.current).toBe(before);
  }
  await waitFor(() => expect(words(result.current)).toBe(`${long} a b`), { timeout: 30_000 });
}, 60_000);

it('parses immediately if the text is short, finished or new', () => {
  // the first parse of a process loads code, and a busy machine may pause any single one
  const isAtOnce = (): boolean => {
    const short = growing('one');
    short.rerender({ given: 'one two', isStreaming: true });
    return words(short.result.current) === 'one two';
  };
  expect(Array.from({ length: 5 }, isAtOnce)).toContain(true);
  const { result, rerender } = growing(long);
  rerender({ given: 'new', isStreaming: true });
  expect(words(result.current)).toBe('new');
  rerender({ given: long, isStreaming: true });
  rerender({ given: `${long} end`, isStreaming: false });
  expect(words(result.current)).toBe(`${long} end`);
}, 60_000);
