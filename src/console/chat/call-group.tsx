import type { ReactElement } from 'react';
import { Glyph } from '../glyphs.tsx';
import { CallView } from './call-view.tsx';
import { FailureLine } from './failure-line.tsx';
import type { ModelFailure } from './trace-facts.ts';
import type { CallsItem } from './turn-items.ts';

interface StepTagProps {
  readonly from: number | null;
  readonly to: number | null;
  /** Opens a step in the trace. Absent: the run cannot be opened from here. */
  readonly onOpen: ((step: number) => void) | null;
  readonly isLive?: boolean;
}

/** Renders step numbers in the margin, as links to their decisions. */
function StepTag({ from, to, onOpen, isLive = false }: StepTagProps): ReactElement | null {
  // keep the space until the number is known, so that nothing moves
  if (from === null || to === null)
    return isLive ? <span className="step-tag" aria-hidden="true" /> : null;
  const text = from === to ? `Step ${from}` : `Step ${from} – ${to}`;
  return onOpen ? (
    <button
      type="button"
      className="step-tag"
      title="Open in the trace"
      aria-label={`${text}, open in the trace`}
      onClick={() => onOpen(to)}
    >
      {text}
    </button>
  ) : (
    <span className="step-tag">{text}</span>
  );
}

/** Renders the calls of a step, or of several steps that a retry connects. */
export function CallGroup(props: {
  readonly item: CallsItem;
  readonly onOpenStep: ((step: number) => void) | null;
  readonly isLive: boolean;
}): ReactElement {
  const { item, onOpenStep, isLive } = props;
  return (
    <div className="calls">
      <StepTag from={item.from} to={item.to} onOpen={onOpenStep} isLive={isLive} />
      {item.calls.map((call) => (
        <CallView key={call.key} item={call} />
      ))}
      {item.notes.map((note) => (
        <p key={note.id} className="calls-note">
          <Glyph name="working" size={14} />
          <span className="visually-hidden">A nested agent in this call: </span>
          <span>{note.content}</span>
        </p>
      ))}
    </div>
  );
}

export function FailureGroup(props: {
  readonly failures: readonly ModelFailure[];
  readonly onOpenStep: ((step: number) => void) | null;
}): ReactElement {
  const { failures, onOpenStep } = props;
  return (
    <div className="calls">
      <StepTag
        from={failures[0]?.step ?? null}
        to={failures.at(-1)?.step ?? null}
        onOpen={onOpenStep}
      />
      <ol className="tries tries-alone">
        {failures.map((failure) => (
          <FailureLine key={failure.step} failure={failure} />
        ))}
      </ol>
    </div>
  );
}
