import type { ToolCallItem } from '../../react/tool-calls.tsx';
import type { ToolResultKind } from '../../tools/tool-result.ts';
import type { CallFact } from './trace-facts.ts';
import { withoutFullStop } from '../../sentence.ts';

export type CallKind =
  | 'writing'
  | 'running'
  | 'waiting'
  | 'done'
  | 'failed'
  | 'timeout'
  | 'denied'
  | 'aborted'
  | 'blocked'
  | 'lost'
  | 'none';

/** What became of a call. */
export interface CallStatus {
  readonly kind: CallKind;
  /** The reason of the denial. */
  readonly reason: string;
  /** It went wrong, so that the model may try again. */
  readonly isFailure: boolean;
}

const said: readonly (readonly [RegExp, CallKind])[] = [
  [/^Denied by a person: ?/, 'denied'],
  [/^Not finished: ?/, 'aborted'],
  [/^Not run: ?/, 'blocked'],
  [/whether it took effect is unknown/, 'lost'],
  [/took longer than its|timed out/i, 'timeout'],
];

const recorded: Readonly<Partial<Record<ToolResultKind, CallKind>>> = {
  denied: 'denied',
  aborted: 'aborted',
  blocked: 'blocked',
  timeout: 'timeout',
};

/** From the record where it is known, else from what the result says. */
export function callStatusOf({ result, state }: ToolCallItem, fact: CallFact | null): CallStatus {
  if (!result) {
    const kind = state === 'open' || state === 'error' || state === 'done' ? 'none' : state;
    return { kind, reason: '', isFailure: false };
  }
  const { tool_error: error, tool_result: value } = result.metadata;
  if (error === undefined) return { kind: 'done', reason: '', isFailure: false };
  const text = typeof value === 'string' ? value : result.content;
  const [pattern, guess] = said.find(([pattern]) => pattern.test(text)) ?? [
    null,
    'failed' as const,
  ];
  const record =
    fact && fact.bar.state in recorded ? recorded[fact.bar.state as ToolResultKind] : null;
  const kind = record ?? guess;
  const isNo = kind === 'denied' || kind === 'aborted' || kind === 'blocked';
  const words = isNo && text !== '' ? text : error;
  const reason = (isNo && pattern ? words.replace(pattern, '') : words)
    .replace(/^Error: /, '')
    .trim();
  return { kind, reason: isNo ? withoutFullStop(reason) : reason, isFailure: !isNo };
}
