import type { Remedy } from './evaluation.ts';
import { grantCode } from './grant-text.ts';
import type { Grants } from './grants.ts';
import type { RunView } from './run-view.ts';

/** What else continues a run. */
export interface OtherWays {
  /** What has to happen first: "set a valid API key, then ". */
  readonly before?: string;
  /** Such as "raise the limit with withMaxSteps(...)". */
  readonly ways: readonly string[];
  readonly option?: string;
}

/** Names the grant that continues a run, which only its root takes: an agent behind a call has the other ways alone. */
export function grantRemedy(
  { parentAgentId = null }: Pick<RunView, 'parentAgentId'>,
  grant: Grants,
  { before = '', ways, option }: OtherWays,
): Remedy {
  const kept = option === undefined ? {} : { option };
  if (parentAgentId !== null) {
    const others = ways.length > 0 ? ways : ['send the root agent a new message'];
    return { text: `${before}${orText(others)}.`, ...kept };
  }
  const resume = `call resume(state, { grant: ${grantCode(grant)} })`;
  return { text: `${before}${orText([resume, ...ways])}.`, ...kept, grant };
}

/** "a", "a, or b", "a, b, or c". */
const orText = (ways: readonly string[]): string =>
  ways.length < 2 ? ways.join('') : `${ways.slice(0, -1).join(', ')}, or ${ways.at(-1)}`;
