import { appendFileSync } from 'node:fs';
import { createAgent, defineTool, ErrorPolicy, type Agent, type AnyTool } from 'onward';
import type { InferenceDriver, InferenceRequest } from 'onward/drivers';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import * as z from 'zod';
import type { JsonObject } from '../../src/json.ts';

const { final, toolCall } = ScenarioStep;

/**
 * A model that does what the message says: `call <tool> <arguments>` calls the tool and then says what it returned,
 * `twice` calls it two times at once, `loop` without end, anything else is repeated with its number in the conversation.
 */
function obedientDriver(): InferenceDriver {
  const answering = ({ messages: given }: InferenceRequest): DeterministicDriver => {
    const messages = [...given];
    const at = messages.findLastIndex((one) => one.isUser() && one.metadata['synthetic'] !== true);
    const said = messages[at]?.text ?? '';
    const number = messages.filter((one) => one.isUser()).length;
    const [verb = '', tool = '', ...args] = said.split(' ');
    const results = messages.slice(at + 1).filter((one) => one.role === 'tool');
    const last = results.at(-1)?.text ?? null;
    if (verb === 'json') return DeterministicDriver.fromSteps(final(said.slice(5)));
    const isOver = verb !== 'loop' && last !== null;
    if (['call', 'twice', 'loop'].includes(verb) && !isOver) {
      const parsed = JSON.parse(args.join(' ') || '{}') as never;
      const call = toolCall(tool, parsed);
      const count = verb === 'twice' ? 2 : 1;
      const calls = Array.from({ length: count }).flatMap((_, i) =>
        call.calls.map((one) => ({ ...one, id: `c${at}_${results.length + i}` })),
      );
      return DeterministicDriver.fromSteps({ ...call, calls });
    }
    return DeterministicDriver.fromSteps(final(isOver ? `got ${last}` : `${number}: ${said}`));
  };
  return {
    name: 'obedient',
    infer: (request, options) => answering(request).infer(request, options),
    stream: (request, options) => answering(request).stream(request, options),
  };
}

const empty = { type: 'object', properties: {} } as const;

/** Tools whose effects are lines of a file. */
function tools(effects: string): readonly AnyTool[] {
  const note = (line: string): void => appendFileSync(effects, `${line}\n`);
  const form = (properties: JsonObject): JsonObject => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
  });
  return [
    defineTool({
      name: 'remove',
      description: 'Removes an article.',
      parameters: z.object({ article: z.string() }),
      needsApproval: true,
      execute({ article }) {
        note(`removed ${article}`);
        return `removed ${article}`;
      },
    }),
    defineTool({
      name: 'greet',
      description: 'Greets the user by name.',
      parameters: empty,
      execute(_args, { input, requestInput }) {
        const answer = input?.answers['who'];
        if (!answer)
          return requestInput({
            who: {
              message: 'What is your \u202ename?',
              schema: form({ name: { type: 'string', minLength: 2 } }),
            },
          });
        return answer.action === 'accept'
          ? `hello ${JSON.stringify(answer.content?.['name'])}`
          : answer.action;
      },
    }),
    defineTool({
      name: 'order',
      description: 'Orders what a nested form says.',
      parameters: empty,
      execute: (_args, { input, requestInput }) =>
        input
          ? 'ordered'
          : requestInput({
              what: {
                message: 'Which items?',
                schema: form({ items: { type: 'array', items: form({ id: { type: 'string' } }) } }),
              },
            }),
    }),
    defineTool({
      name: 'pay',
      description: 'Asks for a payment.',
      parameters: empty,
      execute: (_args, { input, requestInput }) =>
        input
          ? `payment: ${input.answers['page']?.action}`
          : requestInput({ page: { message: 'Pay here.', url: 'https://pay.example.com/1' } }),
    }),
    defineTool({
      name: 'slow',
      description: 'Takes time.',
      parameters: z.object({ ms: z.number() }),
      timeoutMs: 60_000,
      idempotent: true,
      async execute({ ms }, { signal, progress }) {
        note('slow started');
        console.log('a tool may print');
        const until = Date.now() + ms;
        while (Date.now() < until) {
          progress({ progress: ms - (until - Date.now()), total: ms, message: 'working' });
          await new Promise((resolve) => setTimeout(resolve, 20));
          if (!signal.aborted) continue;
          note('slow aborted');
          signal.throwIfAborted();
        }
        note('slow done');
        return 'slow done';
      },
    }),
  ];
}

/** Two agents: `support` with tools, and `invoice` with a typed output. */
export function mcpAgents(effects: string): readonly Agent[] {
  const support = createAgent({
    name: 'support',
    model: obedientDriver(),
    tools: tools(effects) as never,
    maxSteps: 5,
    errorPolicy: ErrorPolicy.production(),
  }) as Agent;
  const invoice = createAgent({
    name: 'the invoice',
    model: obedientDriver(),
    responseFormat: z.object({
      total: z.number(),
      lines: z.array(z.object({ text: z.string() })),
    }),
    errorPolicy: ErrorPolicy.production(),
  }) as unknown as Agent;
  return [support, invoice];
}
