import { expect, it } from 'vitest';
import { reportIn, requestIdIn } from './request-id.ts';
import { headerMap } from './retry-after.ts';

it.each<[string, HeadersInit, string | undefined]>([
  ['OpenAI', { 'X-Request-Id': 'req_1' }, 'req_1'],
  ['Anthropic', { 'Request-Id': 'req_2' }, 'req_2'],
  ['Azure', { 'apim-request-id': 'req_3' }, 'req_3'],
  ['Bedrock', { 'x-amzn-RequestId': 'req_4' }, 'req_4'],
  ['a proxy before Azure', { 'apim-request-id': 'b', 'x-request-id': 'a' }, 'a'],
  ['an empty header', { 'x-request-id': '', 'request-id': 'b' }, 'b'],
  ['no header', {}, undefined],
])('reads the request id of %s', (_who, headers, id) => {
  expect(requestIdIn(headerMap(new Headers(headers)))).toBe(id);
});

it.each<[Record<string, unknown>, object]>([
  [
    { id: 'chatcmpl_1', model: 'm' },
    { requestId: 'chatcmpl_1', model: 'm' },
  ],
  [{ id: '', model: null }, {}],
  [{ id: 5, model: ['m'] }, {}],
])('reads model and id of %j', (body, report) => {
  expect(reportIn(body)).toEqual(report);
});
