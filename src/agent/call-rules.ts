import { sentence } from '../sentence.ts';
import type { AnyTool } from '../tools/tool.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';

/** Whether the call needs approval. */
export const needsApproval = (run: Run, tool: AnyTool, args: unknown): Promise<boolean> =>
  run.cancellation.race(Promise.resolve(tool.needsApproval?.(args) ?? false));

/** Whether the call runs again: its nested agent paused, or it asked the user. */
export const runsAgain = ({ children, inputs }: StepDraft, callId: string): boolean =>
  children?.has(callId) === true || inputs?.has(callId) === true;

export const badArguments = (name: string, message: string): string =>
  `The arguments of "${name}" do not fit: ${sentence(message)} Call it again with arguments that match its schema.`;

export const lostText = (name: string): string =>
  `"${name}" was started, and the process ended before its result was seen: whether it took effect is unknown. ` +
  'It was not run again. Find out before you repeat it.';
