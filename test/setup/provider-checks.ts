import { isRecord } from '../../src/json.ts';

type Json = Record<string, unknown>;

/** Why a provider would reject the request body, or null. */
export type BodyCheck = (body: Json, stored: ReadonlySet<string>) => string | null;

const list = (value: unknown): readonly Json[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];
const idPattern = /^[\w-]+$/;
const namePattern = /^[\w-]{1,64}$/;

/** Chat Completions: results follow their calls at once, and each call is answered once. */
export const chatProblem: BodyCheck = ({ messages }) => {
  const open = new Set<string>();
  for (const [i, message] of list(messages).entries()) {
    const at = `messages[${i}] (${String(message['role'])})`;
    const { role, content } = message;
    if (role === 'tool') {
      if (!open.delete(String(message['tool_call_id']))) return `${at} answers no call before it`;
      if (typeof content !== 'string') return `${at} has no content`;
      continue;
    }
    if (open.size > 0) return `${at} comes while ${[...open].join(', ')} is unanswered`;
    const calls = list(message['tool_calls']);
    if ('tool_calls' in message && calls.length === 0) return `${at} has an empty list of calls`;
    if (calls.length === 0 && (content === null || content === undefined || content === ''))
      return `${at} says nothing`;
    for (const call of calls) {
      const problem = callProblem(call['id'], call['function'], open);
      if (problem !== null) return `${at} ${problem}`;
    }
  }
  return open.size > 0 ? `${[...open].join(', ')} is unanswered at the end` : null;
};

function callProblem(id: unknown, called: unknown, open: Set<string>): string | null {
  const { name, arguments: args } = isRecord(called) ? called : {};
  if (typeof id !== 'string' || id === '' || open.has(id))
    return `has a call with id ${String(id)}`;
  open.add(id);
  if (typeof name !== 'string' || !namePattern.test(name)) return `calls ${String(name)}`;
  try {
    if (typeof args === 'string' && isRecord(JSON.parse(args))) return null;
  } catch {}
  return `has arguments that are no object: ${String(args)}`;
}

/**
 * Responses: each call has one output after it, references point to items of completed answers, and reasoning is
 * encrypted, without an id that was not stored, and followed by the item that it led to.
 */
export const responsesProblem: BodyCheck = ({ input }, stored) => {
  const open = new Set<string>();
  const items = list(input);
  for (const [i, item] of items.entries()) {
    const at = `input[${i}] (${String(item['type'] ?? item['role'])})`;
    if (item['type'] === 'function_call_output') {
      if (!open.delete(String(item['call_id']))) return `${at} answers no call before it`;
    } else if (item['type'] === 'function_call') {
      const problem = callProblem(item['call_id'], item, open);
      if (problem !== null) return `${at} ${problem}`;
    } else if (item['type'] === 'reasoning') {
      const next = items[i + 1];
      if (typeof item['encrypted_content'] !== 'string') return `${at} is not encrypted`;
      if ('id' in item && !stored.has(String(item['id']))) return `${at} has an unknown id`;
      if (!Array.isArray(item['summary'])) return `${at} has no summary`;
      if (next?.['role'] !== 'assistant' && next?.['type'] === undefined)
        return `${at} came without the item that must follow it`;
    } else if (item['type'] === 'item_reference') {
      const id = String(item['id']);
      if (!stored.has(id)) return `${at}: there is no item ${id}`;
      if (!id.startsWith('rs_')) continue;
      const { type, role, id: next } = items[i + 1] ?? {};
      const isFollowed =
        type === 'function_call' || role === 'assistant' || String(next).startsWith('msg_');
      if (!isFollowed) return `${at}: ${id} came without the item that must follow it`;
    } else if (item['role'] !== 'assistant' && open.size > 0)
      return `${at} comes while ${[...open].join(', ')} is unanswered`;
  }
  return open.size > 0 ? `${[...open].join(', ')} is unanswered at the end` : null;
};

/** Messages: the user starts and ends, roles alternate, results come first in the message after their calls. */
export const anthropicProblem: BodyCheck = ({ messages }, stored) => {
  let open = new Set<string>();
  let last = 'assistant';
  for (const [i, { role, content }] of list(messages).entries()) {
    const at = `messages[${i}] (${String(role)})`;
    if (role === last || (role !== 'user' && role !== 'assistant')) return `${at} is out of turn`;
    last = role;
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content);
    if (blocks.length === 0) return `${at} is empty`;
    const results = blocks.filter(({ type }) => type === 'tool_result');
    if (blocks.slice(0, results.length).some(({ type }) => type !== 'tool_result'))
      return `${at} has results behind other blocks`;
    for (const { tool_use_id: id } of results)
      if (!open.delete(String(id))) return `${at} answers no call before it (${String(id)})`;
    if (open.size > 0) return `${at} leaves ${[...open].join(', ')} unanswered`;
    open = new Set();
    for (const block of blocks) {
      if (block['type'] === 'text' && String(block['text']) === '')
        return `${at} has an empty text`;
      if (block['type'] === 'thinking' && !stored.has(String(block['signature'])))
        return `${at} has a thought without a signature`;
      if (block['type'] !== 'tool_use') continue;
      const { id, name, input } = block;
      if (typeof id !== 'string' || !idPattern.test(id) || open.has(id))
        return `${at} has a call with id ${String(id)}`;
      if (typeof name !== 'string' || !namePattern.test(name)) return `${at} calls ${String(name)}`;
      if (!isRecord(input)) return `${at} has arguments that are no object`;
      open.add(id);
    }
  }
  if (last !== 'user') return 'the user does not end the conversation';
  return open.size > 0 ? `${[...open].join(', ')} is unanswered at the end` : null;
};

/** generateContent: the user starts and ends, with as many responses as calls in the content after them. */
export const googleProblem: BodyCheck = ({ contents }) => {
  let open: string[] = [];
  let last = 'model';
  for (const [i, { role, parts: given }] of list(contents).entries()) {
    const at = `contents[${i}] (${String(role)})`;
    if ((i === 0 && role === 'model') || (role !== 'user' && role !== 'model'))
      return `${at} is out of turn`;
    last = role;
    const parts = list(given);
    if (parts.length === 0) return `${at} is empty`;
    const named = (key: string): string[] =>
      parts.flatMap(({ [key]: part }) => (isRecord(part) ? [String(part['name'])] : []));
    const responses = named('functionResponse');
    if (responses.toSorted().join() !== open.toSorted().join())
      return `${at} answers [${responses.join()}], and [${open.join()}] were called`;
    open = named('functionCall');
    const strange = open.find((name) => !namePattern.test(name));
    if (strange !== undefined) return `${at} calls ${strange}`;
    if (parts.some(({ text }) => text === '')) return `${at} has an empty text`;
  }
  if (last !== 'user') return 'the user does not end the conversation';
  return open.length > 0 ? `[${open.join()}] is unanswered at the end` : null;
};
