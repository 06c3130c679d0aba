import { completion, delta, toolCall } from './loopback.ts';
import { chatProblem, responsesProblem } from './provider-checks.ts';
import { argsText, callId, finishOf, pieces, type Json, type Numbered, type Wire } from './wire.ts';

export const chat: Omit<Wire, 'name' | 'model'> = {
  problem: chatProblem,
  stores: () => [],
  whole(said) {
    const calls = said.calls?.map(({ name, args }, i) => toolCall(name, args, callId(said, i)));
    const refusal = said.finish === 'refusal' ? { refusal: 'I will not.' } : null;
    const message = {
      content: said.text ?? null,
      ...(said.thought !== undefined && { reasoning_content: said.thought }),
      ...(calls && { tool_calls: calls }),
      ...refusal,
    };
    return completion(message, chatFinish[finishOf(said)]);
  },
  stream(said) {
    const calls = said.calls?.map(({ name, args }, index) =>
      delta({ tool_calls: [{ index, ...toolCall(name, args, callId(said, index)) }] }),
    );
    const refusal = said.finish === 'refusal' ? [delta({ refusal: 'I will not.' })] : [];
    return [
      [
        delta({ role: 'assistant' }),
        ...pieces(said.thought).map((text) => delta({ reasoning_content: text })),
        ...pieces(said.text).map((text) => delta(text)),
      ],
      [...(calls ?? []), ...refusal, delta({}, chatFinish[finishOf(said)], { usage: chatUsage })],
    ];
  },
};
const chatUsage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const chatFinish: Json & Record<string, string> = {
  calls: 'tool_calls',
  stop: 'stop',
  refusal: 'stop',
  length: 'length',
  content_filter: 'content_filter',
};

export const responses: Omit<Wire, 'name' | 'model'> = {
  problem: responsesProblem,
  stores: (said) => outputOf(said).map(({ id }) => String(id)),
  whole: (said) => ({ ...responseOf(said), output: outputOf(said) }),
  stream(said) {
    const response = responseOf(said);
    const created = { type: 'response.created', response: { ...response, status: 'in_progress' } };
    const events = outputOf(said).map((item, output_index): readonly Json[] => {
      const added = { type: 'response.output_item.added', output_index, item: emptied(item) };
      const done = { type: 'response.output_item.done', output_index, item };
      if (item['type'] !== 'message') return [added, done];
      const deltas = pieces(said.text).map((text) => ({
        type: 'response.output_text.delta',
        item_id: item['id'],
        output_index,
        content_index: 0,
        delta: text,
      }));
      return [added, ...deltas, done];
    });
    const cut = events.findIndex((list) => list.length > 2) + 1;
    const end = {
      type: said.finish === 'length' ? 'response.incomplete' : 'response.completed',
      response,
    };
    const begin = events.slice(0, cut).flat();
    if (said.hangs || said.breaks) begin.pop();
    return [
      [created, ...begin],
      [...events.slice(cut).flat(), end],
    ];
  },
};

const emptied = (item: Json): Json => ({
  ...item,
  ...(item['type'] === 'message' && { content: [] }),
  ...(item['type'] === 'function_call' && { arguments: '' }),
});

function responseOf({ n, finish }: Numbered): Json {
  const reason = finish === 'length' ? 'max_output_tokens' : finish;
  const isTruncated = finish === 'length' || finish === 'content_filter';
  return {
    id: `resp_${n}`,
    object: 'response',
    created_at: 1,
    model: 'gpt-5',
    status: isTruncated ? 'incomplete' : 'completed',
    incomplete_details: isTruncated ? { reason } : null,
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  };
}

function outputOf(numbered: Numbered): readonly Json[] {
  const { n, thought, text, calls = [], finish } = numbered;
  const part =
    finish === 'refusal'
      ? { type: 'refusal', refusal: 'I will not.' }
      : { type: 'output_text', text, annotations: [] };
  const message = { type: 'message', id: `msg_${n}`, role: 'assistant', status: 'completed' };
  return [
    ...(thought === undefined
      ? []
      : [
          {
            type: 'reasoning',
            id: `rs_${n}`,
            summary: [{ type: 'summary_text', text: thought }],
            encrypted_content: `secret_${n}`,
          },
        ]),
    ...(text === undefined && finish !== 'refusal' ? [] : [{ ...message, content: [part] }]),
    ...calls.map(({ name, args }, i) => ({
      type: 'function_call',
      id: `fc_${n}_${i}`,
      call_id: callId(numbered, i),
      name,
      arguments: argsText(args),
      status: 'completed',
    })),
  ];
}
