import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAgent, defineTool, type AnyAgent, type Message, type ToolContext } from 'onward';
import type { InferenceChunk, InferenceDriver, InferenceResponse } from 'onward/drivers';
import { effectLog } from '../kill/effect-log.ts';
import { sleep } from '../kill/random.ts';

/** One answer of the model: texts that it streams, or a tool call. A text that starts with `@` waits for that gate. */
export type PlannedStep =
  | { readonly say: readonly string[] }
  | { readonly call: 'work' | 'pay'; readonly gate?: string };

/** A user message that makes the model follow the steps. */
export const planText = (...steps: readonly PlannedStep[]): string => JSON.stringify(steps);

const gateFile = (folder: string, name: string): string => join(folder, `gate-${name}`);

/** Lets all processes pass a gate, now and later. */
export const openGate = (folder: string, name: string): void =>
  writeFileSync(gateFile(folder, name), '');

async function gateOf(folder: string, name: string, signal?: AbortSignal): Promise<void> {
  while (!existsSync(gateFile(folder, name)) && !signal?.aborted) await sleep(5);
}

export const logIn = (folder: string): string => join(folder, 'effects.log');

/** An agent whose model needs only the conversation, so that any process can continue. Tools log when they run. */
export function scaleAgent(folder: string): AnyAgent {
  const write = effectLog(logIn(folder));
  const tool = (name: string, traits: { idempotent?: boolean; needsApproval?: boolean }) =>
    defineTool({
      name,
      description: `Logs that it runs: ${name}.`,
      parameters: { type: 'object' },
      ...traits,
      async execute(args, { deps, executionId, callId, signal }: ToolContext<{ session: string }>) {
        const { gate } = args as { readonly gate?: string };
        const effect = {
          session: deps.session,
          execution: executionId,
          subject: callId,
          what: name,
        };
        write({ kind: 'begin', ...effect });
        if (gate !== undefined) await gateOf(folder, gate, signal);
        write({ kind: 'end', ...effect });
        return 'ok';
      },
    });
  return createAgent({
    name: 'scale',
    driver: plannedDriver(folder),
    tools: [tool('work', { idempotent: true }), tool('pay', { needsApproval: true })],
  });
}

function plannedDriver(folder: string): InferenceDriver {
  return {
    name: 'planned',
    infer: () => Promise.reject(new Error('It only streams.')),
    async *stream({ messages }, { signal }): AsyncIterable<InferenceChunk> {
      const step = nextStep([...messages]);
      const response: InferenceResponse = {
        content: '',
        toolCalls: [],
        finishReason: 'stop',
        usage: { input: 1, output: 1 },
      };
      if ('call' in step) {
        const { call: name, gate } = step;
        const id = `c${messages.length}`;
        const toolCalls = [{ id, name, args: gate === undefined ? {} : { gate } }];
        return yield { type: 'done', response: { ...response, toolCalls } };
      }
      let content = '';
      for (const text of step.say)
        if (text.startsWith('@')) await gateOf(folder, text.slice(1), signal);
        else {
          content += text;
          yield { type: 'content', text };
        }
      yield { type: 'done', response: { ...response, content } };
    },
  };
}

function nextStep(messages: readonly Message[]): PlannedStep {
  const asked = messages.findLastIndex((message) => message.isUser());
  const content = messages[asked]?.content;
  const plan = JSON.parse(typeof content === 'string' ? content : '[]') as readonly PlannedStep[];
  const done = messages.slice(asked).filter((message) => message.isAssistant()).length;
  return plan[done] ?? { say: ['done'] };
}
