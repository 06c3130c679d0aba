import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseDataset, type DatasetFormat } from './parse-dataset.ts';

const cases = [
  { name: 'case-1', input: 'hi', expected: { output: 'Hello' } },
  {
    name: 'two',
    input: 'find x',
    expected: { calls: [{ tool: 'find', args: { q: 'x' } }] },
    tags: ['a'],
  },
];

describe('parseDataset', () => {
  it.each([
    ['json', JSON.stringify([{ input: 'hi', expected: 'Hello' }, cases[1]])],
    ['json', JSON.stringify({ cases: [{ input: 'hi', expected: 'Hello' }, cases[1]] })],
    ['jsonl', `{"input":"hi","expected":"Hello"}\n\n${JSON.stringify(cases[1])}\r\n`],
    [
      'yaml',
      '- input: hi\n  expected: Hello\n- name: two\n  input: find x\n  tags: [a]\n  expected:\n    calls: [{ tool: find, args: { q: x } }]\n',
    ],
  ] as const)('reads %s', (format, text) => {
    expect(parseDataset('file', text, format, parse)).toEqual(cases);
  });

  it.each<[DatasetFormat, string, string, string]>([
    ['json', '{"a":1', 'file could not be read: ', 'broken JSON'],
    [
      'jsonl',
      '{"input":"a"}\n{"input":',
      'file, line 2, could not be read: ',
      'the line of a mistake',
    ],
    ['json', '{"rows":[]}', 'file is undefined, expected a list of cases.', 'no list'],
    [
      'json',
      '["a"]',
      'file, case 1, is "a", expected an object with input or messages.',
      'no case',
    ],
    [
      'json',
      '[{}]',
      'file, case 1, needs input (a text, or parts of a message) or messages',
      'no input',
    ],
    ['json', '[{"input":"a","messages":[]}]', 'and not both', 'two inputs'],
    [
      'json',
      '[{"input":"a"},{"name":"case-1","input":"b"}]',
      'two cases with the name "case-1"',
      'names are unique',
    ],
    [
      'json',
      '[{"input":"a","expected":{"answer":"b"}}]',
      'expects "answer", known are output, calls and stopReason',
      'unknown keys',
    ],
    [
      'json',
      '[{"input":"a","expected":{"calls":["b"]}}]',
      'expected a list of { tool, args }',
      'calls have a tool',
    ],
    [
      'json',
      '[{"input":"a","expected":{"stopReason":"done"}}]',
      'expected one of user_requested',
      'known reasons',
    ],
    ['json', '[{"input":"a","tags":[1]}]', 'expected a list of texts', 'tags are texts'],
    ['json', `[${'['.repeat(80)}${']'.repeat(80)}]`, 'it has more than 64 levels', 'deep values'],
    ['yaml', 'a: [', 'file could not be read: ', 'broken YAML'],
  ])('%s %s is refused: %s (%s)', (format, text, message) => {
    expect(() => parseDataset('file', text, format, parse)).toThrow(message);
  });
});
