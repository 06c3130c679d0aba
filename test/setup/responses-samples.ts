import { sse, type Reply } from './loopback.ts';

export type Json = Record<string, unknown>;

export const reasoning = (n: number, text: string): Json => ({
  id: `rs_${n}`,
  type: 'reasoning',
  summary: [{ type: 'summary_text', text }],
  encrypted_content: `secret ${n}`,
});
export const said = (text: string, more: Json = {}): Json => ({
  id: `msg_${text.length}`,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
  ...more,
});
export const called = (id: string, name: string, args: Json = {}): Json => ({
  id: `fc_${id}`,
  type: 'function_call',
  status: 'completed',
  call_id: id,
  name,
  arguments: JSON.stringify(args),
});
const usage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 8 },
  output_tokens: 6,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 26,
};
export const response = (output: readonly Json[], more: Json = {}): Json => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  error: null,
  incomplete_details: null,
  output,
  usage,
  ...more,
});

/** The answer as events: items without content, their deltas, and the whole items. */
export function streamed(whole: Json): Reply {
  const events = (whole['output'] as Json[]).flatMap((item, output_index): Json[] => {
    const empty = { ...item, content: [], summary: [], arguments: '' };
    const deltas: Json[] = [];
    for (const { text } of (item['summary'] ?? []) as Json[])
      deltas.push({ type: 'response.reasoning_summary_text.delta', summary_index: 0, delta: text });
    for (const { text } of (item['content'] ?? []) as Json[])
      deltas.push({ type: 'response.output_text.delta', content_index: 0, delta: text });
    if (item['arguments'] !== undefined)
      deltas.push({ type: 'response.function_call_arguments.delta', delta: item['arguments'] });
    return [
      { type: 'response.output_item.added', output_index, item: empty },
      ...deltas.map((delta) => ({ ...delta, output_index })),
      { type: 'response.output_item.done', output_index, item },
    ];
  });
  return sse(...events, { type: 'response.completed', response: whole });
}
