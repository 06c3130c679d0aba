import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../src/tools/tool-result.ts';
import { fateOf } from './call-fate.ts';
import type { Effect, EffectKind } from './effect-log.ts';

const line = (kind: EffectKind, what: string, pid = 1): Effect => ({
  kind,
  session: 's',
  execution: 'e',
  subject: 'c',
  what,
  detail: '-',
  pid,
});
const asked = [line('answering', 'approve'), line('answered', 'approve')];
const ran = (tool: string, pid = 1): Effect[] => [line('begin', tool, pid), line('end', tool, pid)];
const ok = (tool: string): ToolResult => ({
  callId: 'c',
  kind: 'ok',
  value: `${tool} of c`,
  durationMs: 1,
});
const unknown = (tool: string): ToolResult => ({
  ...ok(tool),
  kind: 'error',
  error: {
    type: 'unknown',
    code: 'effect_unknown',
    message: 'It may have run.',
    retryable: false,
    at: '2026-01-01T00:00:00.000Z',
  },
});

const problems = (
  tool: string,
  effects: readonly Effect[],
  result: ToolResult = ok(tool),
  starts = 1,
): readonly string[] => fateOf({ id: 'c', tool, result }, starts, effects, false).problems;

describe('the check of a call', () => {
  it('accepts a call that ran once, ran again if idempotent, or has an unknown effect', () => {
    expect(problems('pay', ran('pay'))).toEqual([]);
    expect(problems('look', [...ran('look'), ...ran('look', 2)], ok('look'), 2)).toEqual([]);
    expect(problems('pay', [line('begin', 'pay')], unknown('pay'))).toEqual([]);
    expect(problems('ask', [...asked, ...ran('ask')])).toEqual([]);
  });

  it.each<readonly [string, readonly string[]]>([
    ['ran twice', problems('pay', [...ran('pay'), ...ran('pay', 2)], ok('pay'), 2)],
    ['never ran', problems('pay', [])],
    ['began without a start', problems('look', [...ran('look'), ...ran('look', 2)])],
    [
      'ran after its effect was unknown',
      problems('pay', [...ran('pay'), ...ran('pay')], unknown('pay')),
    ],
    ['was not approved', problems('ask', ran('ask'))],
    ['was approved too late', problems('ask', [...ran('ask'), ...asked])],
    [
      'was denied',
      problems('ask', [line('answering', 'deny'), line('answered', 'deny'), ...ran('ask')]),
    ],
    ['was answered twice', problems('ask', [...asked, ...asked, ...ran('ask')])],
  ])('reports a call that %s', (_what, found) => {
    expect(found.length).toBeGreaterThan(0);
  });
});
