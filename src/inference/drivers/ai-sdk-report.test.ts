import { describe, expect, it } from 'vitest';
import { AiSdkReport } from './ai-sdk-report.ts';

const reportOf = (...results: Record<string, unknown>[]) => {
  const report = new AiSdkReport();
  for (const result of results) report.result(result);
  return report.report;
};

describe('AiSdkReport', () => {
  it('prefers the id of the headers, whatever comes first', () => {
    const headers = { 'X-Request-ID': 'req_1' };
    const response = { id: 'answer_1', modelId: 'm' };
    expect(reportOf({ response: { ...response, headers } })).toEqual({
      model: 'm',
      requestId: 'req_1',
    });
    const report = new AiSdkReport();
    report.result({ response: { headers } });
    report.metadata(response);
    expect(report.report).toEqual({ model: 'm', requestId: 'req_1' });
  });

  it('keeps the model and id of an earlier part', () => {
    const report = new AiSdkReport();
    report.metadata({ id: 'answer_1', modelId: 'm' });
    report.metadata({ id: undefined, modelId: '' });
    expect(report.report).toEqual({ model: 'm', requestId: 'answer_1' });
  });

  it.each<[unknown, string]>([
    [{ type: 'unsupported-setting', setting: 'seed' }, 'unsupported setting: seed'],
    [
      { type: 'unsupported', feature: 'topK', details: 'Use topP.' },
      'unsupported: topK. Use topP.',
    ],
    [{ type: 'unsupported-tool', tool: { name: 'x' } }, 'unsupported tool: x'],
    [{ type: 'other', message: 'The prompt is long.' }, 'The prompt is long.'],
    ['plain', 'plain'],
    [{ code: 3 }, '{"code":3}'],
  ])('formats the warning %j', (warning, text) => {
    expect(reportOf({ warnings: [warning] }).warnings).toEqual([text]);
  });

  it.each([
    [{ warnings: 'none', response: 'none' }],
    [{ warnings: [], response: { headers: null, id: 5, modelId: {} } }],
    [{}],
  ])('reports nothing for %j', (result) => {
    expect(reportOf(result)).toEqual({});
  });

  it('keeps 20 of many warnings', () => {
    const { warnings } = reportOf({ warnings: Array(1_000).fill('w') });
    expect(warnings).toHaveLength(20);
  });
});
