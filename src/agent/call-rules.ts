import type { ErrorReport } from '../errors/error-record.ts';
import type { FieldsOf } from '../events/agent-event.ts';
import type { RunEvents } from '../events/run-events.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import type { StepDraft } from './step-draft.ts';

/** Whether the call runs again: its nested agent paused, or it asked the user. */
export const runsAgain = ({ children, inputs }: StepDraft, callId: string): boolean =>
  children?.has(callId) === true || inputs?.has(callId) === true;

/** Reports a call whose process died between its start and its end. */
export const lostCall = (name: string): ErrorReport => ({
  type: 'unknown',
  code: 'effect_unknown',
  message:
    `"${name}" was started, and the process ended before its result was seen: whether it took effect is unknown. ` +
    'It was not run again. Find out before you repeat it.',
});

/** Emits the end of a call. */
export function emitCompleted(
  events: RunEvents,
  tool: string,
  { callId: toolCallId, kind, value, error, approval, durationMs }: ToolResult,
  more: Pick<FieldsOf<'ToolCallCompleted'>, 'files' | 'truncated' | 'args'>,
): void {
  events.emit('ToolCallCompleted', {
    tool,
    toolCallId,
    success: kind === 'ok',
    error: kind === 'ok' ? null : (error?.message ?? kind),
    ...(kind !== 'ok' && { errorCode: error?.code ?? kind }),
    durationMs,
    result: events.redacted(value),
    ...(more.files && { files: more.files }),
    ...(approval && { approval }),
    ...(more.truncated && { truncated: true }),
    ...(more.args !== undefined && { args: more.args }),
  });
}
