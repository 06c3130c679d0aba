import { durationText, moneyText } from '../number-text.ts';
import type { CaseReport, EvalReport } from './eval-report.ts';
import { problemsOf } from './run-problems.ts';

/** Writes reports as JUnit XML, which CI systems show: a suite per eval, a test case per case. */
export function junitXml(reports: readonly EvalReport[]): string {
  const all = reports.flatMap(({ cases }) => cases);
  const totals = countsOf(all, reports.filter(({ error }) => error !== null).length);
  const seconds = reports.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="onward eval"${totals} time="${seconds.toFixed(3)}">`,
    ...reports.flatMap(suiteLines),
    '</testsuites>',
    '',
  ].join('\n');
}

function suiteLines(report: EvalReport): readonly string[] {
  const { suite, cases, error, startedAt, durationMs } = report;
  const properties = [
    ['agent', report.agent],
    ['model', report.model],
    ['repeats', report.repeats],
    ['pass_rate', report.passRate],
    ['tokens', report.tokens],
    ['cost', report.cost],
  ] as const;
  return [
    `  <testsuite name="${attribute(suite)}"${countsOf(cases, error === null ? 0 : 1)} time="${(durationMs / 1000).toFixed(3)}" timestamp="${attribute(startedAt)}">`,
    '    <properties>',
    ...properties.flatMap(([name, value]) =>
      value === null
        ? []
        : [`      <property name="${name}" value="${attribute(String(value))}"/>`],
    ),
    '    </properties>',
    ...(error === null
      ? []
      : [
          `    <testcase classname="${attribute(suite)}" name="(cases)" time="0">`,
          `      <error message="${attribute(firstLine(error))}">${content(error)}</error>`,
          '    </testcase>',
        ]),
    ...cases.flatMap((one) => caseLines(suite, one)),
    '  </testsuite>',
  ];
}

function caseLines(suite: string, one: CaseReport): readonly string[] {
  const head = `    <testcase classname="${attribute(suite)}" name="${attribute(one.name)}" time="${(one.durationMs / 1000).toFixed(3)}"`;
  if (one.status === 'passed') return [`${head}/>`];
  if (one.status === 'not_run') return [`${head}>`, '      <skipped/>', '    </testcase>'];
  const text = failureText(one);
  const tag = hasError(one) ? 'error' : 'failure';
  const { message } = text;
  return [
    `${head}>`,
    `      <${tag} message="${attribute(message)}">${content(text.body)}</${tag}>`,
    '    </testcase>',
  ];
}

const hasError = ({ runs }: CaseReport): boolean => runs.some(({ status }) => status === 'error');

function failureText({ runs, passedRuns }: CaseReport): {
  readonly message: string;
  readonly body: string;
} {
  const failed = runs.filter(({ status }) => status === 'failed' || status === 'error');
  const problems = failed.flatMap(problemsOf);
  const rate = runs.length > 1 ? `${passedRuns} of ${runs.length} runs passed: ` : '';
  const body = failed.flatMap((run) => [
    ...(runs.length > 1 ? [`Run ${run.number}:`] : []),
    ...problemsOf(run),
    `Answer: ${run.answer}`,
    `Stopped: ${run.explanation}`,
    `${run.steps} steps, ${run.tokens} tokens, ${run.cost === null ? 'cost unknown' : moneyText(run.cost)}, ${durationText(run.durationMs)}`,
    ...run.calls.map(({ step, tool, args, kind }) => `  step ${step}: ${tool} ${args} → ${kind}`),
  ]);
  return { message: `${rate}${firstLine(problems[0] ?? 'failed')}`, body: body.join('\n') };
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

function countsOf(cases: readonly CaseReport[], unloaded: number): string {
  const failed = cases.filter(({ status }) => status === 'failed');
  const errors = failed.filter(hasError).length;
  const skipped = cases.filter(({ status }) => status === 'not_run').length;
  return ` tests="${cases.length + unloaded}" failures="${failed.length - errors}" errors="${errors + unloaded}" skipped="${skipped}"`;
}

/** Characters that XML 1.0 cannot contain, even escaped; and lone surrogates. */
const NO_XML =
  // oxlint-disable-next-line no-control-regex -- these characters are what is replaced
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\r': '&#13;',
  '\n': '&#10;',
  '\t': '&#9;',
};

const content = (text: string): string =>
  text.replaceAll(NO_XML, '\ufffd').replaceAll(/[&<>\r]/g, (char) => escapes[char] ?? char);

const attribute = (text: string): string =>
  text.replaceAll(NO_XML, '\ufffd').replaceAll(/[&<>"'\r\n\t]/g, (char) => escapes[char] ?? char);
