import * as v from 'valibot';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { AgentBuilder, defineTool, type AnySchema } from 'onward';
import type { InferenceResponse } from 'onward/drivers';
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

/** Schemas with custom messages for a missing city and day. */
const schemas: Readonly<Record<string, AnySchema>> = {
  'zod, with periods': zodWith('Say which one.'),
  'zod, with ellipses': zodWith('Say which one...'),
  'zod, with question marks': zodWith('Which one?'),
  'zod, with exclamation marks': zodWith('No!'),
  'zod, without punctuation': zodWith('is missing'),
  'zod, default messages': z.object({ city: z.string(), day: z.number() }),
  valibot: toStandardJsonSchema(v.object({ city: v.string('A text.'), day: v.number('A day!') })),
  'JSON Schema': {
    type: 'object',
    properties: { city: { type: 'string' }, day: { type: 'number' } },
    required: ['city', 'day'],
  },
  'a custom validator': Object.assign(
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

describe('validator messages end with one punctuation mark', () => {
  it.each(Object.entries(schemas))('%s: in tool errors', async (_name, schema) => {
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

  it.each(Object.entries(schemas))('%s: in response format errors', async (_name, schema) => {
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

  it.each(Object.entries(schemas))(
    '%s: in errors about edited arguments',
    async (_name, schema) => {
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
      if (!call) return; // the custom validator rejects every call
      await expect(
        agent.resume(paused, {
          approvals: { [call.callId]: { approve: true, args: {} } as never },
        }),
      ).rejects.toSatisfy(
        (error: Error) => /do not fit/.test(error.message) && !endsTwice.test(error.message),
      );
    },
  );
});
