import { useEffect, useState, type ReactElement } from 'react';

const shownMs = 2000;
type Copied = 'not yet' | 'yes' | 'refused';
const labels: Readonly<Record<Copied, string>> = {
  'not yet': 'Copy',
  yes: 'Copied',
  refused: 'Not copied',
};

/** Copies a text, and shows whether the browser allowed it. */
export function CopyButton({ text }: { readonly text: () => string }): ReactElement {
  const [copied, setCopied] = useState<Copied>('not yet');
  useEffect(() => {
    if (copied === 'not yet') return undefined;
    const timer = setTimeout(() => setCopied('not yet'), shownMs);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      setCopied('yes');
    } catch {
      setCopied('refused');
    }
  };
  return (
    <button
      type="button"
      className="button button-ghost button-small"
      title="Copy the explanation of this step as plain text"
      onClick={() => void copy()}
    >
      <span role="status">{labels[copied]}</span>
      {copied === 'not yet' && <span className="visually-hidden"> explanation</span>}
    </button>
  );
}
