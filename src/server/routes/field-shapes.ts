import type { Field } from '../fields.ts';
import { grantsSchema } from '../schemas/continuation-schemas.ts';

/** No control characters, because not every store can search for them. */
const plain = '^[^\\u0000-\\u001f\\u007f]*$';

export const word = (expected: string, maxLength: number = 200): Field => ({
  schema: { type: 'string', minLength: 1, maxLength, pattern: plain },
  expected,
});

export const wholeNumber = (minimum: number, maximum: number): Field => ({
  schema: { type: 'integer', minimum, maximum },
  expected: `a whole number from ${minimum} to ${maximum}`,
});

/** A position in a history. */
export const place: Field = {
  schema: { type: 'integer', minimum: 0 },
  expected: 'the position that the previous page returned',
};

export const oneOf = (...values: readonly string[]): Field => ({
  schema: { type: 'string', enum: [...values] },
  expected: `one of ${values.join(', ')}`,
});

/** A list of these values, separated by commas. */
export const someOf = (...values: readonly string[]): Field => ({
  schema: {
    type: 'string',
    maxLength: 1_000,
    pattern: `^(?:${values.join('|')})(?:,(?:${values.join('|')}))*$`,
  },
  expected: `some of ${values.join(', ')}, separated by commas`,
});

export const timeText: Field = {
  schema: {
    type: 'string',
    pattern:
      '^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,3})?Z$',
  },
  expected: 'a time such as 2026-01-31T12:00:00Z',
};

export const amount: Field = {
  schema: { type: 'string', pattern: '^\\d{1,9}(?:\\.\\d{1,9})?$' },
  expected: 'an amount such as 0.05',
};

export const required = (field: Field): Field => ({ ...field, isRequired: true });

export const newSessionId: Field = {
  schema: { type: 'string', pattern: '^(?!\\.{1,2}$)[A-Za-z0-9_\\-=@,.;]{1,128}$' },
  expected: 'an unused id of up to 128 letters, digits and _-=@,.; and not . or ..',
};

const idsUpTo = (most: number): Field => ({
  schema: {
    type: 'array',
    minItems: 1,
    maxItems: most,
    items: { type: 'string', minLength: 1, maxLength: 128 },
  },
  maxEntries: most,
  expected: `1 to ${most} ids of sessions`,
});

export const sessionIds: Field = idsUpTo(200);
/** Sessions that one request changes. */
export const bulkIds: Field = idsUpTo(100);

export const reason: Field = {
  schema: { type: 'string', maxLength: 2_000 },
  expected: 'the reason, in up to 2,000 characters',
};

export const jsonRecord = (expected: string): Field => ({ schema: { type: 'object' }, expected });

/** Files come inside the message: the server must not fetch a URL that a client names. */
const inline = {
  type: 'object',
  properties: {
    type: { enum: ['image', 'file'] },
    data: { type: 'string', minLength: 1, pattern: '^[A-Za-z0-9+/_=-]+$' },
    mediaType: { type: 'string', pattern: '^[\\w.+-]{1,100}/[\\w.+-]{1,100}$' },
    filename: { type: 'string', minLength: 1, maxLength: 255 },
  },
  required: ['type', 'data', 'mediaType'],
  additionalProperties: false,
} as const;
const textPart = {
  type: 'object',
  properties: { type: { const: 'text' }, text: { type: 'string', minLength: 1 } },
  required: ['type', 'text'],
  additionalProperties: false,
} as const;

export const messageContent: Field = {
  schema: {
    anyOf: [
      { type: 'string', pattern: '\\S' },
      { type: 'array', minItems: 1, maxItems: 50, items: { anyOf: [textPart, inline] } },
    ],
  },
  maxEntries: 50,
  expected:
    'a text that is not blank, or up to 50 parts: { type: "text", text }, { type: "image" or "file", data (base64), mediaType }',
};

export const grant: Field = {
  schema: { ...grantsSchema, minProperties: 1 },
  expected:
    'amounts above 0 for steps, tokens, cost, seconds or retries, steps and retries in whole numbers',
};

/** Identifies the call of an answer. */
export const executionName: Field = word('the executionId of the pending approval');
export const hashName: Field = word('the argsHash of the pending approval');
export const inputName: Field = word('the inputId of the question');
const binding = { executionId: executionName.schema, argsHash: hashName.schema };

/** The calls that an approver saw, to answer them together. */
export const seenCalls: Field = {
  schema: {
    type: 'array',
    minItems: 1,
    items: {
      type: 'object',
      properties: { callId: { type: 'string', minLength: 1, maxLength: 200 }, ...binding },
      required: ['callId', 'executionId', 'argsHash'],
      additionalProperties: false,
    },
  },
  maxEntries: 1_000,
  expected: 'the calls that were shown, each with callId, executionId and argsHash; default: all',
};

export const approvals: Field = {
  schema: {
    type: 'object',
    minProperties: 1,
    additionalProperties: {
      anyOf: [
        {
          type: 'object',
          properties: { approve: { const: true }, args: { type: 'object' }, ...binding },
          required: ['approve'],
          additionalProperties: false,
        },
        {
          type: 'object',
          properties: { deny: { type: 'string', maxLength: 2_000 }, ...binding },
          required: ['deny'],
          additionalProperties: false,
        },
      ],
    },
  },
  maxEntries: 128,
  expected:
    'up to 128 answers: { [call id]: { approve: true, args? } or { deny: reason } }, each with the executionId and ' +
    'argsHash of the pending approval',
};
