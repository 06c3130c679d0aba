import type { ReactElement } from 'react';
import { visibleName } from '../visible-text.ts';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface RememberChoiceProps {
  readonly tool: string;
  readonly isChosen: boolean;
  readonly onChoice: (isChosen: boolean) => void;
}

/** Offers to approve later calls of the tool too. It is never chosen beforehand. */
export function RememberChoice({ tool, isChosen, onChoice }: RememberChoiceProps): ReactElement {
  const { labels } = useUi();
  return (
    <label {...part('remember')}>
      <input
        type="checkbox"
        checked={isChosen}
        onChange={(event) => onChoice(event.target.checked)}
      />
      <span>{labels.alwaysAllow(visibleName(tool))}</span>
    </label>
  );
}
