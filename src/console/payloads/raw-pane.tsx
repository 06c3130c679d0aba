import { useContext, useState, type ReactElement } from 'react';
import { bytesText } from '../../number-text.ts';
import { Glyph } from '../glyphs.tsx';
import { CopyText } from './copy-text.tsx';
import { Problem, Skeleton } from './pane-states.tsx';
import { PayloadContext } from './payload-context.ts';
import { wholeText } from './payload-source.ts';
import { RedactedText } from './redacted-text.tsx';
import { usePayload } from './use-payload.ts';

const parts = [
  ['request', 'Request'],
  ['response', 'Response'],
  ['step', 'Step'],
] as const;
type Part = (typeof parts)[number][0];

/** Renders the records of a step as JSON, with the same marks in place of secrets. */
export function RawPane(): ReactElement {
  const { source, place } = useContext(PayloadContext);
  const [part, setPart] = useState<Part>('request');
  const [more, setMore] = useState('');
  const name = `raw.${part}`;
  const { value, problem, retry } = usePayload(`${JSON.stringify(place)} ${part}`, () =>
    source === null ? Promise.reject(new Error('nothing to read')) : source.text(place, name, 0),
  );
  const text = value === null ? '' : value.text + more;
  const whole = async (): Promise<string> =>
    source === null ? text : wholeText(source, place, name);
  const download = async (): Promise<void> => {
    const url = URL.createObjectURL(new Blob([await whole()], { type: 'application/json' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = `step-${place.step}-${part}.json`;
    link.click();
    URL.revokeObjectURL(url);
  };
  const readOn = async (): Promise<void> => {
    if (source === null || value === null) return;
    const range = await source.text(place, name, text.length);
    setMore(more + range.text);
  };
  return (
    <div className="raw-pane">
      <header>
        <div className="payload-switch" role="group" aria-label="Record">
          {parts.map(([id, label]) => (
            <button
              key={id}
              type="button"
              aria-pressed={part === id}
              onClick={() => {
                setPart(id);
                setMore('');
              }}
            >
              {label}
            </button>
          ))}
        </div>
        {value && (
          <>
            <CopyText text={whole} what={part} />
            <button
              type="button"
              className="button button-ghost button-small"
              onClick={() => void download()}
            >
              <Glyph name="download" size={12} />
              Download
            </button>
          </>
        )}
      </header>
      {problem ? (
        <Problem
          message={
            problem.isNotFound || problem.code === 'invalid_option' ? absent : problem.message
          }
          onRetry={retry}
        />
      ) : value === null ? (
        <Skeleton />
      ) : (
        <>
          <p className="payload-note">
            <Glyph name="lock" size={12} /> Secrets are redacted here, in copies and in downloads.
          </p>
          <pre>
            <RedactedText text={text} />
          </pre>
          {text.length < value.characters && (
            <button type="button" className="payload-more" onClick={() => void readOn()}>
              Show {bytesText(value.characters - text.length)} more
            </button>
          )}
        </>
      )}
    </div>
  );
}

const absent = 'This record is not in the store: it was pruned, or this step did not write it.';
