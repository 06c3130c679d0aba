import { Fragment, type ReactElement } from 'react';
import { Glyph } from '../glyphs.tsx';

/** What the redactor writes in place of a secret. */
const REDACTED = '[redacted]';
/** A hidden value with its quotes and, in JSON, the key before it; or a key of JSON. */
const marks = /("(?:[^"\\\n]|\\.)*")(\s*:\s*)"\[redacted\]"|"\[redacted\]"|\[redacted\]/g;

/** Renders a text with a mark, and no quotes, in place of every hidden value. */
export function RedactedText({ text }: { readonly text: string }): ReactElement {
  if (!text.includes(REDACTED)) return <>{text}</>;
  const parts: ReactElement[] = [];
  let end = 0;
  for (const match of text.matchAll(marks)) {
    const [whole, key = '', colon = ''] = match;
    parts.push(
      <Fragment key={match.index}>
        {text.slice(end, match.index)}
        {key}
        {colon}
        <Hidden name={key.slice(1, -1)} />
      </Fragment>,
    );
    end = match.index + whole.length;
  }
  return (
    <>
      {parts}
      {text.slice(end)}
    </>
  );
}

function Hidden({ name }: { readonly name: string }): ReactElement {
  const isShort = name !== '' && name.length <= 30;
  return (
    <span className="redacted">
      <Glyph name="lock" size={10} />
      {isShort ? `${name.replaceAll('_', ' ')} redacted` : 'redacted'}
    </span>
  );
}
