import { useEffect, useReducer, useRef } from 'react';
import { readMarkdown, type MarkdownNode } from './markdown-tree.ts';

interface Reading {
  readonly text: string;
  readonly isStreaming: boolean;
  readonly nodes: readonly MarkdownNode[];
  /** Time at which a growing text may be parsed again. */
  readonly dueAt: number;
}

/** Milliseconds below which parsing repeats with every frame. */
const SHORT_MS = 4;
/** Parsing of a growing text takes at most one part in this many of the page's time. */
const SHARE = 10;

/** Parses a text. The longer a growing text, the less often it is parsed, so that the page stays responsive. */
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
