import { describe, expect, it } from 'vitest';
import { fallsBack } from './fallback-rule.ts';

const over = 60_001;

describe('fallsBack', () => {
  it.each<[string, 'stop' | 'retry', number | undefined, boolean, string]>([
    ['server', 'stop', undefined, true, 'the tries are spent, or the policy has none'],
    ['server', 'retry', undefined, false, 'the model has tries left'],
    ['rate_limit', 'retry', 60_000, false, 'a wait of a minute is worth a retry'],
    ['rate_limit', 'retry', over, true, 'another model answers before a longer wait ends'],
    ['overloaded', 'retry', over, true, 'another model answers before a longer wait ends'],
    ['overloaded', 'stop', undefined, true, 'the tries are spent'],
    ['timeout', 'stop', undefined, true, 'the tries are spent'],
    ['stream_incomplete', 'stop', undefined, true, 'the tries are spent'],
    ['empty_answer', 'stop', undefined, true, 'the tries are spent'],
    ['driver_failed', 'stop', undefined, true, 'the tries are spent'],
    ['auth', 'stop', undefined, true, 'its only try is spent, and another model has another key'],
    ['tool_use_failed', 'stop', undefined, true, 'another model may write a valid call'],
    ['not_found', 'stop', undefined, true, 'no retry finds the model'],
    ['not_found', 'retry', undefined, true, 'no retry finds the model'],
    ['model_not_found', 'retry', undefined, true, 'no retry finds the model'],
    ['quota', 'stop', undefined, true, 'no retry has more quota'],
    ['quota', 'retry', over, true, 'no retry has more quota'],
    ['refusal', 'stop', undefined, false, 'asking other models would work around a refusal'],
    ['content_filter', 'stop', undefined, false, 'asking others would work around the filter'],
    ['invalid_request', 'stop', undefined, false, 'the request is wrong for every model'],
    ['context_length', 'stop', undefined, false, 'the conversation has to get shorter'],
    ['hook_failed', 'stop', undefined, false, 'the model did not fail'],
    ['refusal', 'retry', over, false, 'a wait does not change a refusal'],
  ])('%s, policy %s, retry after %s ms: %s (%s)', (code, handling, retryAfterMs, expected) => {
    const failure = retryAfterMs === undefined ? { code } : { code, retryAfterMs };
    expect(fallsBack(failure, handling)).toBe(expected);
  });
});
