import type { ReactElement } from 'react';
import { Glyph } from '../glyphs.tsx';
import { CallView } from './call-view.tsx';
import type { OpenStep } from '../contract.ts';
import type { CallsItem } from './turn-items.ts';

export interface CallGroupProps {
  readonly item: CallsItem;
  /** Opens a step in the trace; null where its execution is not known. */
  readonly onOpenStep: OpenStep | null;
  readonly isLive: boolean;
}

/** Renders the step number in the margin, as a link to its decision. */
function StepTag({ item, onOpenStep, isLive }: CallGroupProps): ReactElement | null {
  const { step, executionId } = item;
  // keep the space until the number is known, so that nothing moves
  if (step === null) return isLive ? <span className="step-tag" aria-hidden="true" /> : null;
  const text = `Step ${step}`;
  return onOpenStep ? (
    <button
      type="button"
      className="step-tag"
      title="Open in the trace"
      aria-label={`${text}, open in the trace`}
      onClick={() => onOpenStep(step, executionId)}
    >
      {text}
    </button>
  ) : (
    <span className="step-tag">{text}</span>
  );
}

/** Renders the calls of a step. */
export function CallGroup(props: CallGroupProps): ReactElement {
  const { item } = props;
  return (
    <div className="calls">
      <StepTag {...props} />
      {item.calls.map((call) => (
        <CallView key={call.key} item={call} />
      ))}
      {item.notes.map((note) => (
        <p key={note.id} className="calls-note">
          <Glyph name="working" size={14} />
          <span className="visually-hidden">A nested agent in this call: </span>
          <span dir="auto">{note.content}</span>
        </p>
      ))}
    </div>
  );
}
