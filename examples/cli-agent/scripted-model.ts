import { setTimeout as rest } from 'node:timers/promises';
import type { Messages } from 'onward';
import type { InferenceDriver, InferenceResponse } from 'onward/drivers';

/** In the place of a model: it understands "list", "read <file>", "read all" and "delete <file>". */
export function scriptedModel(): InferenceDriver {
  return {
    name: 'scripted',
    infer: async ({ messages }) => answer(messages),
    async *stream({ messages }, { signal }) {
      const response = answer(messages);
      for (const text of response.content.split(/(?<= )/)) {
        yield { type: 'content', text };
        await rest(20, undefined, { signal });
      }
      yield { type: 'done', response };
    },
  };
}

function answer(messages: Messages): InferenceResponse {
  const all = [...messages];
  const asked = all.findLastIndex((message) => message.isUser());
  const results = all.slice(asked + 1).filter((message) => message.isTool());
  const [, verb, file = ''] =
    /^(list|read|delete)\s*(\S*)/i.exec(all[asked]?.text.trim() ?? '') ?? [];
  const last = results.at(-1)?.text ?? '';

  if (verb === undefined)
    return say('I can "list", "read notes.txt", "read all" and "delete notes.txt".');
  if (verb.toLowerCase() === 'list')
    return last === '' ? call('list_files', {}) : say(`There is ${last}.`);
  if (verb.toLowerCase() === 'delete')
    return last === '' ? call('delete_file', { file }, `I delete ${file}.`) : say(last);
  if (file !== 'all')
    return last === '' ? call('read_file', { file }) : say(`${file} says: ${last}`);

  // one after the other, until the limit of steps has something to say about it
  const [list] = results;
  if (!list) return call('list_files', {}, 'I look what there is.');
  const names = JSON.parse(list.text) as string[];
  const next = names[results.length - 1];
  return next === undefined
    ? say(`I have read all ${names.length}.`)
    : call('read_file', { file: next });
}

const say = (content: string): InferenceResponse => ({
  content,
  toolCalls: [],
  finishReason: 'stop',
  usage: null,
});

const call = (name: string, args: object, content = ''): InferenceResponse => ({
  ...say(content),
  toolCalls: [{ name, args }],
  finishReason: 'tool_calls',
});
