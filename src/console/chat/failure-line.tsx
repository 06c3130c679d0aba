import type { ReactElement } from 'react';
import { Glyph } from '../glyphs.tsx';
import { durationText } from '../../number-text.ts';
import { failureWords, type ModelFailure } from './trace-facts.ts';
import { sentence } from '../../sentence.ts';

/** Renders a failed model call: its error, how long the run waited, and whether it continued. */
export function FailureLine({ failure }: { readonly failure: ModelFailure }): ReactElement {
  const [title, words] = failureWords(failure);
  return (
    <li data-kind={failure.isLast && !failure.willRetry ? 'failed' : 'wait'}>
      <Glyph name={failure.isLast && !failure.willRetry ? 'failed' : 'retry'} size={14} />
      <span>
        <b>{title}</b>
        {` — ${sentence(words)} ${nextText(failure)}`}
      </span>
      <span className="call-time">{durationText(failure.durationMs + failure.waitMs)}</span>
    </li>
  );
}

function nextText({ waitMs, isLast, willRetry, attempt }: ModelFailure): string {
  if (!willRetry) return 'Not retried.';
  const wait = durationText(waitMs).replace('.00', '');
  if (isLast) return waitMs > 0 ? `Waiting ${wait} before attempt ${attempt + 1}.` : '';
  const sent = `the same messages were sent again (attempt ${attempt + 1}).`;
  return waitMs > 0 ? `Waited ${wait}, then ${sent}` : `Then ${sent}`;
}
