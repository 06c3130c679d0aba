import type { ReactElement } from 'react';
import type { WireUsage } from '../broadcasting/envelope.ts';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface UsageViewProps {
  readonly usage: WireUsage;
  readonly stepCount: number;
}

/** Renders what the visible run has used so far. */
export function UsageView({ usage, stepCount }: UsageViewProps): ReactElement | null {
  const { labels } = useUi();
  if (usage.total === 0 && stepCount === 0) return null;
  return (
    <p {...part('usage')}>
      <span>{labels.steps(stepCount)}</span>
      <span>{labels.tokens(usage.total)}</span>
      <span {...part('usage-parts')}>{labels.tokenParts(usage.input, usage.output)}</span>
    </p>
  );
}
