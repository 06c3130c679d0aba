import { grantText } from '../continuation/grant-text.ts';
import { failureText } from '../continuation/model-failure.ts';
import { own } from '../json.ts';
import { durationText } from '../number-text.ts';
import { sentence } from '../sentence.ts';
import type { UiEvent } from './ui-message.ts';

/** Says what happened in one sentence for a user, without code. */
export function eventText(event: UiEvent): string {
  switch (event.kind) {
    case 'stop':
      return event.headline;
    case 'grant':
      return `${event.authority === 'owner' ? 'You' : 'An operator'} allowed ${grantText(event.amounts, 'more')}.`;
    case 'fallback':
      return `${sentence(failureText({ model: 'The model', code: event.code, message: '' }).replace(' ()', ''))} Another model continued.`;
    case 'failed_call':
      return failedCallText(event);
    case 'settings':
      return `Other settings for step ${event.step}: ${event.changes.join(', ')}.`;
    default:
      return `Forked from another session after step ${event.step}.`;
  }
}

const failures: Readonly<Record<string, string>> = {
  rate_limit: 'Rate limited by the provider.',
  overloaded: 'The model provider was overloaded.',
  timeout: 'The model did not answer in time.',
  connection_failed: 'The model provider could not be reached.',
  server: 'The model provider had a server error.',
  context_length: 'The conversation was too long for the model.',
};

function failedCallText({
  code,
  wait_ms: waitMs,
  will_retry: willRetry,
  attempt,
}: Extract<UiEvent, { kind: 'failed_call' }>): string {
  const what = own(failures, code) ?? 'The model call failed.';
  if (!willRetry) return `${what} It was not tried again.`;
  const wait = waitMs > 0 ? `Waited ${durationText(waitMs).replace('.00', '')} and tried` : 'Tried';
  return `${what} ${wait} again (attempt ${attempt + 1}).`;
}
