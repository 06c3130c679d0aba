import type { EnvelopePayloads } from '../../src/broadcasting/envelope.ts';

type Asked = EnvelopePayloads['agent.input.requested'];

const word = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenfabrik';

/** Questions with every kind of field, long words, an address that does not wrap by itself, and JSON. */
export const questionSamples: readonly Asked[] = [
  {
    tool: 'book_table',
    tool_call_id: 'q1',
    input_id: 'q1/table',
    key: 'table',
    message: `How many at ${word}?\nIt is a large place, so say where you would like to sit.`,
    schema: {
      type: 'object',
      properties: {
        guests: { type: 'integer', title: 'Guests', minimum: 1, maximum: 12 },
        email: { type: 'string', format: 'email', description: `Sent to ${word}${word}` },
        area: { type: 'string', title: word, enum: ['inside', `terrace-${word}`] },
        vegan: { type: 'boolean', title: 'Vegan menu' },
        allergies: {
          type: 'array',
          items: { type: 'string', enum: ['nuts', 'milk', `gluten-${word}`] },
        },
      },
      required: ['guests'],
    },
  },
  {
    tool: 'a_tool_with_a_name_that_is_very_long_and_does_not_wrap_by_itself_at_all',
    tool_call_id: 'q2',
    input_id: 'q2/login',
    key: 'login',
    message: 'Sign in there first.',
    url: `https://login.${'sub.'.repeat(12)}example.com/authorize?state=${'x'.repeat(180)}`,
  },
  {
    tool: 'fill_in',
    tool_call_id: 'q3',
    input_id: 'q3/any',
    key: 'any',
    message: 'Any JSON.',
    schema: { type: 'object', properties: { deep: { type: 'object', properties: {} } } },
  },
];
