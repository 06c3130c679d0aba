import { useContext, useState, type ReactElement } from 'react';
import { bytesText, counted } from '../../number-text.ts';
import type { PayloadText } from '../../trace/index.ts';
import { PayloadContext } from './payload-context.ts';
import { CopyText } from './copy-text.tsx';
import { RedactedText } from './redacted-text.tsx';
import { wholeText } from './payload-source.ts';

/** A text is folded above one of these. */
const FOLDED_LINES = 12;
const FOLDED_CHARACTERS = 2_000;

/** Renders a text of a payload: code for JSON and results, else prose. Long texts are folded. */
export function PayloadBody({
  payload,
  isCode = payload.isJson ?? false,
}: {
  readonly payload: PayloadText;
  readonly isCode?: boolean;
}): ReactElement {
  const { source, place } = useContext(PayloadContext);
  const [isOpen, setOpen] = useState(false);
  const [whole, setWhole] = useState<string | null>(null);
  const [state, setState] = useState<'ready' | 'loading' | 'failed'>('ready');
  const known = whole ?? payload.text;
  const folded = foldedText(known);
  const isLong = folded.length < known.length || known.length < payload.characters;
  const shown = isOpen ? known : folded;
  const open = async (): Promise<void> => {
    if (isOpen && known.length >= payload.characters) return setOpen(false);
    setOpen(true);
    const { part } = payload;
    if (whole !== null || part === undefined || source === null) return;
    setState('loading');
    try {
      setWhole(await wholeText(source, place, part));
      setState('ready');
    } catch {
      setState('failed');
    }
  };
  return (
    <div className="payload-body" data-code={isCode || undefined}>
      {isCode ? (
        <pre>
          <RedactedText text={shown} />
        </pre>
      ) : (
        <p dir="auto">
          <RedactedText text={shown} />
        </p>
      )}
      {isLong && (
        <button type="button" className="payload-more" onClick={() => void open()}>
          {labelOf(payload, shown, { isOpen, state })}
        </button>
      )}
    </div>
  );
}

function labelOf(
  { characters, lines }: PayloadText,
  shown: string,
  { isOpen, state }: { readonly isOpen: boolean; readonly state: string },
): string {
  if (state === 'loading') return 'Loading…';
  if (state === 'failed') return 'Not loaded. Try again';
  if (isOpen && shown.length >= characters) return 'Show less';
  const moreLines = lines - shown.split('\n').length;
  const size = bytesText(characters - shown.length);
  return moreLines > 0 ? `Show ${counted(moreLines, 'more line')} (${size})` : `Show ${size} more`;
}

function foldedText(text: string): string {
  let end = -1;
  for (let lines = 0; lines < FOLDED_LINES; lines++) {
    end = text.indexOf('\n', end + 1);
    if (end === -1) break;
  }
  // a few lines more are not worth a button
  const isFew = end === -1 || text.indexOf('\n', end + 1) === -1;
  const byLines = isFew ? text.length : end;
  const most = Math.min(byLines, FOLDED_CHARACTERS);
  return text.length - most < 80 ? text : text.slice(0, most);
}

/** Renders a text with its name and a button that copies all of it. */
export function PayloadBlock({
  name,
  payload,
  isCode = true,
}: {
  readonly name: string;
  readonly payload: PayloadText;
  readonly isCode?: boolean;
}): ReactElement {
  return (
    <section className="payload-block">
      <header>
        <h4>{name}</h4>
        <CopyPayload payload={payload} what={name.toLowerCase()} />
      </header>
      <PayloadBody payload={payload} isCode={isCode} />
    </section>
  );
}

/** Copies all of a text, also what is not shown. */
export function CopyPayload({
  payload,
  what,
}: {
  readonly payload: PayloadText;
  readonly what: string;
}): ReactElement {
  const { source, place } = useContext(PayloadContext);
  const { part, text } = payload;
  return (
    <CopyText
      what={what}
      text={() => (part === undefined || source === null ? text : wholeText(source, place, part))}
    />
  );
}
