import type { EvalReports } from '../../evals/eval-reports.ts';
import { route, type Route } from '../route.ts';
import { ref } from '../schemas/shapes.ts';
import { required, wholeNumber, word } from './field-shapes.ts';

/** Creates the routes that show stored eval reports. They are for operators, because cases may hold texts of users. */
export const evalRoutes = (reports: EvalReports): readonly Route[] => [
  route({
    method: 'GET',
    path: '/admin/evals',
    name: 'listEvals',
    summary: 'Lists the suites with stored reports, each with its newest runs.',
    isAdmin: true,
    answer: { status: 200, about: 'The suites.', schema: ref('EvalSuites') },
    handle: async () => ({ suites: await reports.list() }),
  }),
  route<{ readonly suite: string; readonly number?: number }>({
    method: 'GET',
    path: '/admin/evals/report',
    name: 'readEvalReport',
    summary: 'Reads a stored report of an eval.',
    isAdmin: true,
    query: {
      suite: required(word('the name of a suite')),
      number: wholeNumber(1, 999_999_999),
    },
    answer: {
      status: 200,
      about: 'The report; null if there is none. By default the newest.',
      schema: ref('StoredEvalReport'),
    },
    handle: async ({ query: { suite, number } }) => ({
      report: await (number === undefined ? reports.latest(suite) : reports.read(suite, number)),
    }),
  }),
];
