import { isRecord } from '../json.ts';
import {
  fields,
  listProblem,
  recordProblem,
  refuse,
  usageFields,
  within,
  type Fields,
  type Problem,
} from './check-record.ts';

const compactionFields = fields({
  id: 'string',
  kind: 'string',
  fromPosition: 'number',
  toPosition: 'number',
  text: 'string?',
  tokensBefore: 'number',
  tokensAfter: 'number',
  model: 'string?',
  usage: 'object',
  cost: 'number??',
  reason: 'string',
  at: 'string',
});
/** The fields of a compaction in a step. */
export const stepCompactionFields: Fields = fields({
  id: 'string',
  kind: 'string',
  tokensBefore: 'number',
  tokensAfter: 'number',
  reason: 'string',
  messages: 'number',
});
const kinds = ['tool_results', 'summary'];
const reasons = ['threshold', 'context_length'];

/** Rejects one compaction of a conversation with this many messages. */
export const checkCompaction = (item: unknown, messages: number): void =>
  refuse(within('.compaction', compactionProblem(item, messages)));

/** Rejects compactions that a view could not be made from. */
export function compactionsProblem(list: unknown, messages: unknown): Problem | null {
  const end = Array.isArray(messages) ? messages.length : 0;
  return listProblem(list, (item) => compactionProblem(item, end));
}

function compactionProblem(item: unknown, end: number): Problem | null {
  const own = recordProblem(item, compactionFields);
  if (own || !isRecord(item)) return own;
  const { kind, fromPosition, toPosition, text, usage, reason } = item;
  if (!kinds.includes(String(kind)))
    return { at: '.kind', seen: kind, expected: `one of ${kinds.join(', ')}` };
  if (!reasons.includes(String(reason)))
    return { at: '.reason', seen: reason, expected: `one of ${reasons.join(', ')}` };
  if (kind === 'summary' && typeof text !== 'string')
    return { at: '.text', seen: text, expected: 'a string' };
  // a loaded part of a conversation may begin behind the first message that is covered
  if (!Number.isSafeInteger(fromPosition))
    return { at: '.fromPosition', seen: fromPosition, expected: 'a whole number' };
  const isInside =
    Number.isSafeInteger(toPosition) &&
    Number(toPosition) > Number(fromPosition) &&
    Number(toPosition) >= 0 &&
    Number(toPosition) <= end;
  if (!isInside)
    return {
      at: '.toPosition',
      seen: toPosition,
      expected: 'a whole number behind fromPosition, at most the number of messages',
    };
  return within('.usage', recordProblem(usage, usageFields));
}
