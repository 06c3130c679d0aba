import { isRecord, own } from '../json.ts';
import { eventText } from './event-text.ts';
import {
  isAmount,
  isAmounts,
  isBoolean,
  isCount,
  isName,
  isText,
  isTextList,
  orNull,
  type Check,
} from './read-fields.ts';
import type { UiEvent, UiMessage } from './ui-message.ts';

/** Ids of event rows: the live log and the record of the server name a row alike. */
export const eventId = {
  stop: (executionId: string, step: number): string => `${executionId}:stop:${step}`,
  grant: (executionId: string, at: string): string => `${executionId}:grant:${at}`,
  fallback: (executionId: string, step: number): string => `${executionId}:fallback:${step}`,
  failedCall: (executionId: string, step: number): string => `${executionId}:failed:${step}`,
  settings: (executionId: string, step: number): string => `${executionId}:settings:${step}`,
} as const;

export interface EventRowInput {
  readonly id: string;
  readonly timestamp: string;
  readonly event: UiEvent;
  readonly executionId?: string;
}

/** Creates the row of an event; its content is the sentence for clients that do not know the event. */
export function eventRow({ id, timestamp, event, executionId }: EventRowInput): UiMessage {
  return {
    id,
    role: 'status',
    content: eventText(event),
    timestamp,
    metadata: {
      status_type: 'info',
      event,
      ...(executionId !== undefined && { execution_id: executionId }),
    },
  };
}

const fields: { readonly [K in UiEvent['kind']]: Readonly<Record<string, Check>> } = {
  stop: { step: isCount, headline: isText },
  grant: { amounts: isAmounts, by: orNull(isName), authority: isName },
  fallback: { step: isCount, from: isName, to: isName, code: isName },
  failed_call: {
    step: isCount,
    attempt: isCount,
    code: isName,
    error: isText,
    wait_ms: isAmount,
    will_retry: isBoolean,
  },
  settings: { step: isCount, changes: isTextList },
  fork: { session_id: isName, step: isCount },
};

/** Whether it is an event of a known kind with all its fields. */
export const isEvent: Check = (value) => {
  if (!isRecord(value)) return false;
  const wanted = own(fields, String(value['kind']));
  return wanted !== undefined && Object.entries(wanted).every(([name, fits]) => fits(value[name]));
};
