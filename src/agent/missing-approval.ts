import type { AnyTool } from '../tools/tool.ts';
import type { Run } from './run.ts';

/** Whether the call needs approval. */
export const needsApproval = (run: Run, tool: AnyTool, args: unknown): Promise<boolean> =>
  run.cancellation.race(Promise.resolve(tool.needsApproval?.(args) ?? false));

/** A call needs an approval that it does not have: a hook changed its arguments, or the rule was revoked. */
export class MissingApproval extends Error {
  override readonly name = 'MissingApproval';
}

export const changedByHook = (tool: string, hasRun: boolean): string =>
  `Blocked: a hook changed the arguments of "${tool}", and with those it needs an approval that no person has given. ` +
  (hasRun ? 'It has run before with others, and was not run with these.' : 'It was not run.');

export const revoked = (tool: string): string =>
  `Blocked: the remembered approval of "${tool}" was revoked. It was not run.`;
