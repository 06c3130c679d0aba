import type { ReactElement } from 'react';
import type { ContinuationOutcomeJSON } from '../../continuation/outcome.ts';
import { Glyph, voiceGlyph } from '../glyphs.tsx';
import { rungsOf, type Rung } from './ladder.ts';
import { Voice } from './voice.tsx';

/** Every voice in order of precedence; a line runs from the decisive one down to the verdict. */
export function Ladder({ outcome }: { readonly outcome: ContinuationOutcomeJSON }): ReactElement {
  const rungs = rungsOf(outcome);
  const decided = rungs.findIndex(({ isDecisive }) => isDecisive);
  return (
    <div className="ladder" data-says={outcome.decision}>
      {rungs.map((rung, i) => (
        <RungView key={rung.decision} rung={rung} isBelow={decided >= 0 && i > decided} />
      ))}
    </div>
  );
}

function RungView({
  rung,
  isBelow,
}: {
  readonly rung: Rung;
  readonly isBelow: boolean;
}): ReactElement {
  const { decision, name, voices, isDecisive, rule } = rung;
  return (
    <section
      className="rung"
      data-decision={decision}
      data-decisive={isDecisive || undefined}
      data-below={isBelow || undefined}
      data-empty={voices.length === 0 || undefined}
    >
      <h4>
        <Glyph name={voiceGlyph[decision]} size={14} />
        <span>{name}</span>
        <span className="rung-count">{voices.length === 0 ? 'nobody' : voices.length}</span>
        {rule !== null && <span className="rung-rule">{rule}</span>}
      </h4>
      {voices.length > 0 && (
        <ul>
          {voices.map((evaluation, i) => (
            <Voice
              key={`${evaluation.criterion}:${i}`}
              evaluation={evaluation}
              isDecisive={isDecisive && i === 0}
            />
          ))}
        </ul>
      )}
    </section>
  );
}
