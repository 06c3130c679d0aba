import { describe, expect, it } from 'vitest';
import { defaultRedactor } from '../errors/make-redactor.ts';
import { modelCallInfo } from './model-call-info.ts';

const infoOf = (
  report: object,
  word: string | null = null,
  ms: number | null = null,
  queuedMs = 0,
) => modelCallInfo(report, word, { firstTokenMs: ms, queuedMs }, defaultRedactor);
const secret = 'sk-proj-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4';

describe('modelCallInfo', () => {
  it('keeps what the provider reported, and the time to the first token in whole milliseconds', () => {
    const report = { model: 'gpt-5-2025', requestId: 'req_1', warnings: ['no seed'] };
    expect(infoOf({ ...report, rawFinishReason: 'end_turn' }, 'stop', 12.6)).toEqual({
      ...report,
      rawFinishReason: 'end_turn',
      firstTokenMs: 13,
    });
  });

  it.each<[string, object]>([
    ['nothing', {}],
    ['empty texts', { model: '', requestId: ' \n', warnings: ['', ' '] }],
    ['values of other types', { model: 5, requestId: { a: 1 }, warnings: 'none', content: 'hi' }],
    ['the finish reason alone', { rawFinishReason: 'stop' }],
  ])('is null for %s', (_what, report) => {
    expect(infoOf(report, 'stop')).toBeNull();
  });

  it.each([
    [-5, 0],
    [0, 0],
    [0.4, 0],
  ])('a time of %d is %d milliseconds', (ms, expected) => {
    expect(infoOf({}, null, ms)).toEqual({ firstTokenMs: expected });
  });

  it('has the time in a limiter only if the call waited', () => {
    expect(infoOf({}, null, null, 1_200.4)).toEqual({ queuedMs: 1_200 });
    expect(infoOf({}, null, null, 0.2)).toBeNull();
  });

  it('truncates names to 200 characters, and 8 warnings to 500', () => {
    const long = 'm'.repeat(1_000_000);
    const info = infoOf({ model: long, requestId: long, warnings: Array(50).fill(long) });
    expect(info?.model).toHaveLength(200);
    expect(info?.model?.endsWith('…')).toBe(true);
    expect(info?.requestId).toHaveLength(200);
    expect(info?.warnings).toHaveLength(8);
    for (const warning of info?.warnings ?? []) expect(warning).toHaveLength(500);
  });

  it('does not split a character', () => {
    for (const before of [197, 198, 199, 200]) {
      const { model = '' } = infoOf({ model: `${'m'.repeat(before)}👋👋` }) ?? {};
      expect(!/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/.test(model)).toBe(true);
    }
  });

  it('hides secrets, also one that the end would split', () => {
    for (const before of [0, 150, 180, 190, 199]) {
      const text = `${'x'.repeat(before)} ${secret}`;
      const info = infoOf({ model: text, requestId: text, warnings: [text] });
      expect(JSON.stringify(info)).not.toContain('sk-proj');
    }
  });

  it('drops warnings that are no texts, and keeps the others in order', () => {
    const warnings = ['a', null, { type: 'b' }, 7, 'c'];
    expect(infoOf({ warnings })?.warnings).toEqual(['a', 'c']);
  });
});
