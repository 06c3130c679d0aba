import type { ReactElement } from 'react';
import { counted } from '../../number-text.ts';
import type { Cause, ComparedAnswer, Difference, RequestPlace } from '../../trace/index.ts';
import { PayloadBody } from '../payloads/payload-body.tsx';
import { RedactedText } from '../payloads/redacted-text.tsx';
import { CalledTool } from '../payloads/request-view.tsx';

/** Names what differs first. */
export function differenceText({ step, kind, tool }: Difference): string {
  const what = {
    response: 'the model’s response',
    result: `the result of ${tool ?? 'a tool'}`,
    decision: 'the decision',
    end: 'one run ended before it',
  };
  return `First difference: step ${step}, ${what[kind]}`;
}

/** Renders both sides of the first difference, and how the requests differ. */
export function DifferenceView({ difference }: { readonly difference: Difference }): ReactElement {
  const { left, right, cause } = difference;
  return (
    <>
      <div className="compare-row compare-answers">
        <Answer answer={left} sign="−" />
        <span />
        <Answer answer={right} sign="+" />
      </div>
      {left && right && <CauseView cause={cause} />}
    </>
  );
}

function Answer({
  answer,
  sign,
}: {
  readonly answer: ComparedAnswer | null;
  readonly sign: string;
}): ReactElement {
  if (!answer) return <p className="compare-answer muted">This run has no such step.</p>;
  const { content, calls, result } = answer;
  return (
    <div className="compare-answer" data-sign={sign}>
      <p className="compare-name">{result ? 'Result' : 'Said'}</p>
      {result ? (
        <PayloadBody payload={result} isCode />
      ) : (
        <>
          {content && <PayloadBody payload={content} />}
          {calls.map((call) => (
            <CalledTool key={call.id} call={call} />
          ))}
          {!content && calls.length === 0 && <p className="muted">The answer is empty.</p>}
        </>
      )}
    </div>
  );
}

function CauseView({ cause }: { readonly cause: Cause }): ReactElement {
  const { status, places, hasMore } = cause;
  if (status !== 'stored')
    return (
      <p className="compare-cause">
        Cause: unknown. A request was {status === 'pruned' ? 'pruned' : 'not recorded'}, so that the
        two cannot be compared.
      </p>
    );
  if (places.length === 0)
    return (
      <p className="compare-cause">
        Cause: the requests are the same. The model answered differently.
      </p>
    );
  const [first] = places;
  return (
    <details className="compare-cause" open>
      <summary>
        <span>
          Cause: the request differs in {hasMore ? 'more than ' : ''}
          {counted(places.length, 'place')}
        </span>
        {places.length === 1 && <span className="muted">{first?.where}</span>}
      </summary>
      <ul>
        {places.map((place, i) => (
          // oxlint-disable-next-line react/no-array-index-key -- a place may be named twice
          <li key={i}>
            {places.length > 1 && <p className="compare-name">{place.where}</p>}
            <div className="compare-row">
              <Side place={place} text={place.left} sign="−" />
              <span />
              <Side place={place} text={place.right} sign="+" />
            </div>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Renders what is the same on both sides, then the rest with a sign. */
function Side({
  place,
  text,
  sign,
}: {
  readonly place: RequestPlace;
  readonly text: string | null;
  readonly sign: '−' | '+';
}): ReactElement {
  if (text === null) return <p className="compare-side muted">not there</p>;
  const { same } = place;
  const rest = text.slice(same);
  const Tag = sign === '+' ? 'ins' : 'del';
  return (
    <p className="compare-side" dir="auto">
      <RedactedText text={text.slice(0, same)} />
      {rest !== '' && (
        <Tag>
          <span aria-hidden="true">{sign} </span>
          <RedactedText text={rest} />
        </Tag>
      )}
    </p>
  );
}
