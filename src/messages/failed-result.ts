import { isRecord } from '../json.ts';
import type { Message } from './message.ts';

/** Whether a tool message reports that its call has no result: it failed, timed out, was denied, blocked or aborted. */
export function isFailedResult({ metadata }: Message): boolean {
  const { toolResult } = metadata;
  return (
    isRecord(toolResult) && typeof toolResult['kind'] === 'string' && toolResult['kind'] !== 'ok'
  );
}
