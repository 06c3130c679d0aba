import type { AgentState } from '../agent/agent-state.ts';
import type { Compaction } from '../agent/compaction.ts';
import { camelKeys, snakeKeys, type SnakeKeys } from './snake-keys.ts';
import type { Writing } from './slim-message.ts';

/** A compaction, with the positions of the messages in the document. */
export type SlimCompaction = SnakeKeys<Compaction>;

/** Returns the newest summary whole, and what was left out behind it. `kept` are the positions of the kept messages. */
export function slimCompactions(
  { compactions }: AgentState,
  kept: readonly number[],
  { redactor, report }: Writing,
): readonly SlimCompaction[] {
  const newest = compactions.findLastIndex(({ kind }) => kind === 'summary');
  const end = compactions[newest]?.toPosition ?? 0;
  const placed = (position: number): number => kept.filter((place) => place < position).length;
  return compactions.flatMap((one, i) => {
    const toPosition = placed(one.toPosition);
    const fromPosition = Math.min(placed(one.fromPosition), toPosition - 1);
    const isUsed =
      i === newest || (one.kind === 'tool_results' && one.toPosition > end && fromPosition >= 0);
    if (!isUsed) return [];
    const { value, hidden } = redactor.free({ ...one, fromPosition, toPosition });
    report.secretsHidden(hidden, false);
    return [snakeKeys<Compaction>(value)];
  });
}

export const readSlimCompaction = (slim: SlimCompaction): Compaction => camelKeys<Compaction>(slim);
