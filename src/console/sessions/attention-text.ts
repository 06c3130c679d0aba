import { countText, durationText } from '../../number-text.ts';
import type { ListedSession } from '../api-client.ts';
import type { GlyphName } from '../glyphs.tsx';

/** Returns why a session needs a person, or the reason for its status. */
export function whyText(session: ListedSession, now: number): string {
  const { attention, tries, error, reason, waitingFor, updatedAt, phase } = session;
  const age = durationText(Math.max(0, now - Date.parse(updatedAt)));
  switch (attention) {
    case 'gave_up':
      return `Gave up after ${countText(tries)} ${tries === 1 ? 'attempt' : 'attempts'}${error === null ? '' : `: ${error}`}`;
    case 'stuck':
      return phase === 'open' && tries > 0
        ? `Its worker stopped responding. Nothing works on it, ${age}`
        : `No worker took it, waiting ${age}`;
    case 'waiting':
      return `${waitingFor.length > 1 ? `${countText(waitingFor.length)} calls need an answer` : reason}, waiting ${age}`;
    case 'failed':
    case null:
      return error === null || attention === null ? reason : `${reason}: ${error}`;
  }
}

export const attentionGlyphs: Readonly<Record<NonNullable<ListedSession['attention']>, GlyphName>> =
  {
    gave_up: 'gaveUp',
    stuck: 'clock',
    failed: 'failed',
    waiting: 'paused',
  };

const places: Readonly<Record<string, string>> = {
  title: 'Title',
  agent: 'Agent',
  id: 'ID',
  reason: 'Status',
  error: 'Worker error',
  message: 'Message',
  answer: 'Answer',
  tool: 'Tool',
  tool_result: 'Tool result',
  tool_error: 'Tool error',
};

/** Returns where a search found a session: `Tool error, step 4`. */
export const placeText = (place: string, step: number | null): string =>
  `${places[place] ?? place}${step === null ? '' : `, step ${countText(step)}`}`;
