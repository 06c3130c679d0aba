import { vi } from 'vitest';
import { completion, delta, toolCall } from './loopback.ts';

type Step = { readonly text: string } | { readonly name: string; readonly args: string };

/**
 * Parses a model script with one answer per part: `search {"query":"a"}; search {"query":"b"}; "Done."`. A JSON string
 * is a final answer.
 */
export function modelScript(script: string): readonly Step[] {
  return script.split(/;\s+(?=\w+ \{|")/).map((part) => {
    const [, name, json = ''] = /^(?:(\w+) )?(\{.*\}|".*")$/s.exec(part.trim()) ?? [];
    const value: unknown = JSON.parse(json || 'null');
    if (name !== undefined && typeof value === 'object') return { name, args: json };
    if (name === undefined && typeof value === 'string') return { text: value };
    throw new Error(
      `The model script has "${part}". Write name {"argument":1} or "a final answer".`,
    );
  });
}

/** Answers the requests of the work from the script, in place of OpenAI: Responses and Chat Completions. */
export async function withModelScript<T>(script: string, work: () => Promise<T>): Promise<T> {
  const steps = modelScript(script);
  let asked = 0;
  vi.stubEnv('OPENAI_API_KEY', 'sk-scripted');
  vi.stubGlobal('fetch', async (url: unknown, init?: RequestInit): Promise<Response> => {
    const step = steps[asked++];
    if (step === undefined)
      throw new Error(`The model script has ${steps.length} answers. Add one to it.`);
    const path = /^https:\/\/api\.openai\.com\/v1\/(responses|chat\/completions)/.exec(String(url));
    if (!path) throw new Error(`A sample asked ${String(url)}. Scripts answer for OpenAI alone.`);
    const { stream } = (await new Response(init?.body).json()) as { readonly stream?: boolean };
    const isChat = path[1] !== 'responses';
    if (stream !== true) return Response.json(isChat ? whole(step, asked) : responded(step, asked));
    return isChat ? streamed(step, asked) : eventsOf(step, asked);
  });
  try {
    const result = await work();
    if (asked < steps.length)
      throw new Error(
        `The sample asked the model ${asked} times. Its script has ${steps.length} answers.`,
      );
    return result;
  } finally {
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
  }
}

const callOf = ({ name, args }: { name: string; args: string }, asked: number) =>
  toolCall(name, args, `call_${asked}`);

const whole = (step: Step, asked: number): Record<string, unknown> =>
  'text' in step
    ? completion(step.text)
    : completion({ tool_calls: [callOf(step, asked)] }, 'tool_calls');

function streamed(step: Step, asked: number): Response {
  const chunks =
    'text' in step
      ? [...step.text.split(/(?<= )/).map((word) => delta(word)), delta({}, 'stop')]
      : [delta({ tool_calls: [{ index: 0, ...callOf(step, asked) }] }), delta({}, 'tool_calls')];
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const lines = [...chunks, { object: 'chat.completion.chunk', choices: [], usage }];
  const body = `${lines.map((line) => `data: ${JSON.stringify(line)}\n\n`).join('')}data: [DONE]\n\n`;
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/** The same answer of the Responses API. */
function responded(step: Step, asked: number): Record<string, unknown> {
  const output =
    'text' in step
      ? {
          type: 'message',
          id: `msg_${asked}`,
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: step.text, annotations: [] }],
        }
      : {
          type: 'function_call',
          id: `fc_${asked}`,
          call_id: `call_${asked}`,
          name: step.name,
          arguments: step.args,
          status: 'completed',
        };
  return {
    id: `resp_${asked}`,
    object: 'response',
    status: 'completed',
    error: null,
    incomplete_details: null,
    output: [output],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  };
}

function eventsOf(step: Step, asked: number): Response {
  const words = 'text' in step ? step.text.split(/(?<= )/) : [];
  const events = [
    { type: 'response.created', response: { id: `resp_${asked}`, status: 'in_progress' } },
    ...words.map((delta) => ({ type: 'response.output_text.delta', output_index: 0, delta })),
    { type: 'response.completed', response: responded(step, asked) },
  ];
  const body = events
    .map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`)
    .join('');
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}
