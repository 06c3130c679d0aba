import { Fragment, type ReactElement } from 'react';
import { Glyph } from '../glyphs.tsx';
import { REDACTED, redactedParts } from './redacted-parts.ts';

/** Renders a text with a mark, and no quotes, in place of every hidden value. */
export function RedactedText({ text }: { readonly text: string }): ReactElement {
  if (!text.includes(REDACTED)) return <>{text}</>;
  return (
    <>
      {redactedParts(text).map((part, i) => (
        <Fragment key={i}>{typeof part === 'string' ? part : <Hidden name={part.key} />}</Fragment>
      ))}
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
