import * as v from 'valibot';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { AgentBuilder, defineTool, type AnySchema, type InferenceResponse } from 'onward';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';

const answer = (part: Partial<InferenceResponse>): InferenceResponse => ({
  content: '',
  toolCalls: [],
  finishReason: 'stop',
  usage: null,
  ...part,
});

const zodWith = (message: string): AnySchema =>
  z.object({ city: z.string({ error: message }), day: z.number({ error: message }) });

/** What validators say about arguments without a city and a day. */
const schemas: Readonly<Record<string, AnySchema>> = {
  'zod, with full stops': zodWith('Say which one.'),
  'zod, with more of them': zodWith('Say which one...'),
  'zod, with questions': zodWith('Which one?'),
  'zod, with calls': zodWith('No!'),
  'zod, with no mark': zodWith('is missing'),
  'zod, as it is': z.object({ city: z.string(), day: z.number() }),
  valibot: toStandardJsonSchema(v.object({ city: v.string('A text.'), day: v.number('A day!') })),
  'JSON Schema': {
    type: 'object',
    properties: { city: { type: 'string' }, day: { type: 'number' } },
    required: ['city', 'day'],
  },
  'a validator of one\u2019s own': Object.assign(
    {
      '~standard': {
        vendor: 'own',
        validate: () => ({ issues: [{ message: 'Not like this. ' }] }),
      },
    },
    { toJsonSchema: () => ({ type: 'object' }) },
  ),
};

const endsTwice = /[.!?]\.|\.;|\.\s+\./;

describe('what a validator says ends once, like any sentence', () => {
  it.each(Object.entries(schemas))('%s: to the model and in the record', async (_name, schema) => {
    const tool = defineTool({
      name: 'go',
      description: 'Goes',
      parameters: schema,
      execute: () => 1,
    });
    let calls = 0;
    const state = await AgentBuilder.base()
      .withModel({
        name: 'x',
        infer: async () =>
          calls++ === 0
            ? answer({
                toolCalls: [{ id: 'a', name: 'go', args: { no: 1 } }],
                finishReason: 'tool_calls',
              })
            : answer({ content: 'done' }),
      })
      .withTools(tool)
      .build()
      .run('go');
    const [step] = state.steps;
    const texts = [
      [...state.messages].find(({ role }) => role === 'tool')?.text,
      ...(step?.errors.map(({ message }) => message) ?? []),
    ];
    expect(texts.length).toBeGreaterThan(1);
    for (const text of texts) {
      expect(text).toContain('Call it again');
      expect(text).not.toMatch(endsTwice);
    }
  });

  it.each(Object.entries(schemas))('%s: of a response format', async (_name, schema) => {
    const state = await AgentBuilder.base()
      .withModel({ name: 'x', infer: async () => answer({ content: '{}' }) })
      .withResponseFormat(schema)
      .withMaxSteps(2)
      .build()
      .run('go');
    const texts = [
      ...[...state.steps].flatMap(({ errors }) => errors.map(({ message }) => message)),
      ...[...state.messages].map(({ text }) => text),
      state.lastContinuationOutcome?.explain() ?? '',
    ];
    expect(texts.join(' ')).toContain('does not match the response format');
    for (const text of texts) expect(text).not.toMatch(endsTwice);
  });

  it.each(Object.entries(schemas))('%s: of edited arguments', async (_name, schema) => {
    const tool = defineTool({
      name: 'go',
      description: 'Goes',
      parameters: schema,
      needsApproval: true,
      execute: () => 1,
    });
    const agent = AgentBuilder.base()
      .withModel({
        name: 'x',
        infer: async () =>
          answer({
            toolCalls: [{ id: 'a', name: 'go', args: { city: 'x', day: 1 } }],
            finishReason: 'tool_calls',
          }),
      })
      .withTools(tool)
      .build();
    const paused = await agent.run('go');
    const [call] = paused.pendingApprovals;
    if (!call) return; // it would not let anything pass
    await expect(
      agent.resume(paused, { approvals: { [call.callId]: { approve: true, args: {} } as never } }),
    ).rejects.toSatisfy(
      (error: Error) => /do not fit/.test(error.message) && !endsTwice.test(error.message),
    );
  });
});
