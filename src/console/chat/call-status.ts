import { own } from '../../json.ts';
import type { ToolCallItem } from '../../react/tool-calls.tsx';
import { withoutFullStop } from '../../sentence.ts';
import type { CallFact } from './trace-facts.ts';

export type CallKind =
  | 'writing'
  | 'next'
  | 'running'
  | 'waiting'
  | 'asking'
  | 'done'
  | 'failed'
  | 'timeout'
  | 'denied'
  | 'aborted'
  | 'blocked'
  | 'lost'
  | 'none';

/** Result of a call. */
export interface CallStatus {
  readonly kind: CallKind;
  /** Error of a failed call, or the result text of one that was denied, aborted or blocked. */
  readonly reason: string;
  /** Whether it failed, so that the model may retry. */
  readonly isFailure: boolean;
}

/** Kinds by error code and by the recorded state of the call. Every other code is a failure. */
const kinds: Readonly<Record<string, CallKind>> = {
  denied: 'denied',
  aborted: 'aborted',
  blocked: 'blocked',
  timeout: 'timeout',
  tool_timeout: 'timeout',
  effect_unknown: 'lost',
};

/** Returns the status from the error code of the result; from the trace if an earlier release sent no code. */
export function callStatusOf({ result, state }: ToolCallItem, fact: CallFact | null): CallStatus {
  if (!result) {
    const kind = state === 'open' || state === 'error' || state === 'done' ? 'none' : state;
    return { kind, reason: '', isFailure: false };
  }
  const { tool_error: error, tool_error_code: code, tool_result: value } = result.metadata;
  if (error === undefined) return { kind: 'done', reason: '', isFailure: false };
  const kind = own(kinds, code ?? fact?.bar.state ?? '') ?? 'failed';
  const isFailure = kind !== 'denied' && kind !== 'aborted' && kind !== 'blocked';
  if (isFailure) return { kind, reason: error, isFailure };
  const text = typeof value === 'string' ? value : result.content;
  return { kind, reason: withoutFullStop(text) || kind, isFailure };
}
