import { fields, type Fields } from './check-record.ts';

/** The lists of an execution, with the fields of their records. */
export const executionLists: readonly (readonly [key: string, expected: Fields])[] = [
  ['grantLog', fields({ grant: 'object', by: 'string??', at: 'string', authority: 'string' })],
  ['family', fields({ agent: 'string', steps: 'number', tokens: 'number', cost: 'number??' })],
  [
    'runs',
    fields({
      at: 'string',
      afterStep: 'number',
      policy: 'string',
      by: 'string?',
      grant: 'object?',
      seconds: 'number?',
      outcome: 'object?',
      stop: 'object?',
      dropped: 'object?',
    }),
  ],
  ['failingTools', fields({ tool: 'string', failures: 'number' })],
];
