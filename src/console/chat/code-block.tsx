import { useEffect, useState, type ReactElement, type ReactNode } from 'react';
import { Glyph } from '../glyphs.tsx';
import type { codeTokens } from './code-tokens.ts';

export interface CodeBlockProps {
  readonly language: string;
  readonly text: string;
  /** Whether more text may arrive: it gets its colors when it is complete. */
  readonly isStreaming: boolean;
  /** Content after the last character, such as a caret. */
  readonly end: ReactNode;
}

/** Renders code as text with colors, which are loaded with the first code, and a button that copies it. */
export function CodeBlock({ language, text, isStreaming, end }: CodeBlockProps): ReactElement {
  const code = text.replace(/\n$/, '');
  const color = useColors(language !== '' && !isStreaming);
  const tokens = color && !isStreaming ? color(code, language) : null;
  return (
    <div className="code">
      <div className="code-head">
        <span>{language.slice(0, 40)}</span>
        <CopyCode text={code} />
      </div>
      <pre
        dir="ltr"
        tabIndex={0}
        role="group"
        aria-label={`Code${language && ` in ${language.slice(0, 40)}`}`}
      >
        <code>
          {tokens
            ? tokens.map(({ kind, text: piece }, i) =>
                kind === '' ? (
                  piece
                ) : (
                  <span key={i} data-token={kind}>
                    {piece}
                  </span>
                ),
              )
            : code}
          {end}
        </code>
      </pre>
    </div>
  );
}

let loaded: typeof codeTokens | null = null;

function useColors(isWanted: boolean): typeof codeTokens | null {
  const [, setLoaded] = useState(loaded !== null);
  useEffect(() => {
    if (!isWanted || loaded) return undefined;
    let isGone = false;
    void import('./code-tokens.ts').then(
      (module) => {
        loaded = module.codeTokens;
        if (!isGone) setLoaded(true);
      },
      // without colors it is still readable
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, [isWanted]);
  return loaded;
}

const shownMs = 1_600;

function CopyCode({ text }: { readonly text: string }): ReactElement {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <button
      type="button"
      className="code-copy"
      onClick={() =>
        void navigator.clipboard?.writeText(text).then(
          () => setCopied(true),
          () => undefined,
        )
      }
    >
      <Glyph name={isCopied ? 'check' : 'copy'} size={12} />
      <span aria-live="polite">{isCopied ? 'Copied' : 'Copy'}</span>
    </button>
  );
}
