import { SaxesParser } from 'saxes';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { caseReport, emptyRun, runReport } from './run-report.ts';
import type { EvalReport, RunReport } from './eval-report.ts';
import { evalRunOf } from './eval-run-of.ts';
import { junitXml } from './junit-xml.ts';
import { AgentState } from '../agent/agent-state.ts';

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  text: string;
}

/** Parses XML strictly: throws if it is not well-formed. */
function parsed(xml: string): readonly Element[] {
  const parser = new SaxesParser();
  const elements: Element[] = [];
  const open: Element[] = [];
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes: attributes as Record<string, string>, text: '' };
    elements.push(element);
    open.push(element);
  });
  parser.on('text', (text) => {
    const element = open.at(-1);
    if (element) element.text += text;
  });
  parser.on('closetag', () => void open.pop());
  parser.write(xml).close();
  return elements;
}

function report(runs: readonly RunReport[], name = 'finds the lead', more = {}): EvalReport {
  const one = caseReport({ name, input: 'hi' }, runs, { passRate: 1, scorers: [] });
  return {
    format: 'onward.eval',
    version: 1,
    suite: 'leads',
    number: null,
    agent: 'crm',
    model: 'gpt-5',
    startedAt: '2026-01-02T03:04:05.000Z',
    durationMs: 1_234,
    repeats: 1,
    passRate: 1,
    concurrency: 4,
    passed: false,
    isAborted: false,
    error: null,
    counts: { cases: 1, passed: 0, failed: 1, notRun: 0 },
    tokens: 0,
    cost: 0,
    judgeCost: 0,
    scorers: [],
    cases: [one],
    baseline: null,
    ...more,
  };
}

const run = (reason: string, status: 'fail' | 'pass' | 'error' = 'fail'): RunReport =>
  runReport(1, evalRunOf(AgentState.empty().withUserMessage('hi')), [
    { scorer: 'judge', status, score: 0.4, reason },
  ]);

describe('junitXml', () => {
  it('has a suite per eval and a test case per case', () => {
    const suite = ['testsuite', 'properties', ...Array<string>(6).fill('property'), 'testcase'];
    const elements = parsed(junitXml([report([run('too short')]), report([run('', 'pass')])]));
    expect(elements.map(({ name }) => name)).toEqual(['testsuites', ...suite, 'failure', ...suite]);
    expect(elements[0]?.attributes).toEqual({
      name: 'onward eval',
      tests: '2',
      failures: '1',
      errors: '0',
      skipped: '0',
      time: '2.468',
    });
    const failure = elements.find(({ name }) => name === 'failure');
    expect(failure?.attributes['message']).toBe('judge 0.4: too short');
    expect(failure?.text).toContain('judge 0.4: too short\nAnswer: ');
  });

  it.each([
    ['a case that did not run', [emptyRun(1, 'not_run')], { skipped: '1' }, 'skipped'],
    ['a run that threw', [emptyRun(1, 'error', new Error('no key'))], { errors: '1' }, 'error'],
    ['a scorer that threw', [run('broken', 'error')], { errors: '1', failures: '0' }, 'error'],
  ])('reports %s', (_what, runs, counts, tag) => {
    const elements = parsed(junitXml([report(runs)]));
    expect(elements[0]?.attributes).toMatchObject(counts);
    expect(elements.at(-1)?.name).toBe(tag);
  });

  it('reports cases that could not be loaded', () => {
    const elements = parsed(junitXml([report([], 'x', { error: 'no file <a>', cases: [] })]));
    expect(elements[0]?.attributes).toMatchObject({ tests: '1', errors: '1' });
    expect(elements.at(-1)).toMatchObject({ name: 'error', text: 'no file <a>' });
  });

  it('stays valid and complete, whatever a model wrote', () => {
    const hostile =
      ']]><testcase name="x"/>&amp;<!-- \u0000\u0008\ud800 \ufffe "\' \r\n\t</failure>';
    const [, ...elements] = parsed(junitXml([report([run(hostile)], `"><x a='${hostile}`)]));
    expect(elements.filter(({ name }) => name === 'testcase')).toHaveLength(1);
    expect(elements.at(-1)?.text).toContain(']]><testcase name="x"/>&amp;<!--');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const names = parsed(junitXml([report([run(text)], text || 'x', { model: text })]));
        expect(names.filter(({ name }) => name === 'testcase')).toHaveLength(1);
      }),
      { numRuns: 30 },
    );
  });
});
