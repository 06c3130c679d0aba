import { vi } from 'vitest';
import { completion, delta, toolCall } from './loopback.ts';

type Step = { readonly text: string } | { readonly name: string; readonly args: string };

/**
 * Reads the script of a model, one answer after the other: `search {"query":"a"}; search {"query":"b"}; "Done."`. A JSON
 * string is a final answer.
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

/** Answers Chat Completions requests of the work with the script, in the place of OpenAI. */
export async function withModelScript<T>(script: string, work: () => Promise<T>): Promise<T> {
  const steps = modelScript(script);
  let asked = 0;
  vi.stubEnv('OPENAI_API_KEY', 'sk-scripted');
  vi.stubGlobal('fetch', async (url: unknown, init?: RequestInit): Promise<Response> => {
    const step = steps[asked++];
    if (step === undefined)
      throw new Error(`The model script has ${steps.length} answers. Add one to it.`);
    if (!String(url).startsWith('https://api.openai.com/v1/chat/completions'))
      throw new Error(`A sample asked ${String(url)}. Scripts answer for OpenAI alone.`);
    const { stream } = (await new Response(init?.body).json()) as { readonly stream?: boolean };
    return stream === true ? streamed(step, asked) : Response.json(whole(step, asked));
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
