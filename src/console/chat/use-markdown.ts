import { useEffect, useReducer, useRef } from 'react';
import { readMarkdown, type MarkdownNode } from './markdown-tree.ts';

interface Reading {
  readonly text: string;
  readonly isStreaming: boolean;
  readonly nodes: readonly MarkdownNode[];
  /** When a text that grows may be read again. */
  readonly dueAt: number;
}

/** A reading that took less is repeated with every frame. */
const SHORT_MS = 4;
/** Of the time of the page, reading a text that grows takes one part in so many. */
const SHARE = 10;

/** The parts of a text. The longer a text that grows, the less often it is read: the page stays free. */
export function useMarkdown(text: string, isStreaming: boolean): readonly MarkdownNode[] {
  const last = useRef<Reading | null>(null);
  const [, readAgain] = useReducer((count: number) => count + 1, 0);
  const known = last.current;
  const isLater =
    isStreaming &&
    known?.isStreaming === true &&
    text.length > known.text.length &&
    performance.now() < known.dueAt;
  useEffect(() => {
    if (!isLater) return undefined;
    const timer = setTimeout(readAgain, known.dueAt - performance.now());
    return () => clearTimeout(timer);
  }, [isLater, known]);
  if (known && (isLater || (known.text === text && known.isStreaming === isStreaming)))
    return known.nodes;
  const startedAt = performance.now();
  const nodes = readMarkdown(text, isStreaming);
  const tookMs = performance.now() - startedAt;
  const dueAt = tookMs < SHORT_MS ? 0 : startedAt + tookMs * SHARE;
  last.current = { text, isStreaming, nodes, dueAt };
  return nodes;
}
