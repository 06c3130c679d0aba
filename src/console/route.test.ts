import { expect, it } from 'vitest';
import { hrefOf, parseRoute, type Route } from './route.ts';

it.each<[string, Route]>([
  ['#/', { view: 'home' }],
  ['#/new', { view: 'new' }],
  ['#/sessions', { view: 'page', page: 'sessions', path: [], query: '' }],
  [
    '#/evals/run%2041/case?status=failed&x=1',
    { view: 'page', page: 'evals', path: ['run 41', 'case'], query: 'status=failed&x=1' },
  ],
  ['#/s/ses_1', { view: 'chat', sessionId: 'ses_1' }],
  ['#/s/a%2Fb%3Fc', { view: 'chat', sessionId: 'a/b?c' }],
  ['#/s/x/trace', { view: 'trace', sessionId: 'x', step: null, execution: null }],
  ['#/s/x/trace/12', { view: 'trace', sessionId: 'x', step: 12, execution: null }],
  [
    '#/s/x/trace/2?execution=e1&call=c%261&in=3',
    {
      view: 'trace',
      sessionId: 'x',
      step: 2,
      execution: 'e1',
      call: { callId: 'c&1', step: 3 },
    },
  ],
  [
    '#/s/x/trace?call=c1&in=1',
    { view: 'trace', sessionId: 'x', step: null, execution: null, call: { callId: 'c1', step: 1 } },
  ],
  ['#/s/x/trace/0?execution=e%401', { view: 'trace', sessionId: 'x', step: 0, execution: 'e@1' }],
])('%s parses and formats', (href, route) => {
  expect(parseRoute(href)).toEqual(route);
  expect(hrefOf(route)).toBe(href);
});

it.each<[string, Route]>([
  ['', { view: 'home' }],
  ['#main', { view: 'home' }],
  ['#/s/', { view: 'home' }],
  ['#/s/%E0%A4%A', { view: 'home' }],
  ['#/elsewhere', { view: 'home' }],
  ['#/s/x/trace?call=c1&in=0', { view: 'trace', sessionId: 'x', step: null, execution: null }],
  ['#/s/x/trace?call=c1', { view: 'trace', sessionId: 'x', step: null, execution: null }],
  ['#/s/x/trace/last', { view: 'trace', sessionId: 'x', step: null, execution: null }],
])('the unknown path %s opens the list', (href, route) => expect(parseRoute(href)).toEqual(route));
