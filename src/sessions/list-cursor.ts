import { invalidOption } from '../errors/agent-error.ts';
import { isSessionId } from './check-names.ts';
import type { SessionRow } from './session-rows.ts';

type ListPlace = Pick<SessionRow, 'updatedAt' | 'id'>;

export const cursorOf = (place: ListPlace | null): string | null =>
  place && btoa(JSON.stringify([place.updatedAt, place.id]));

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]{8,15}Z$/.test(value);

export function placeOf(cursor: string): ListPlace {
  try {
    const [updatedAt, id] = JSON.parse(atob(cursor)) as unknown[];
    if (isTime(updatedAt) && isSessionId(id)) return { updatedAt, id };
  } catch {
    // reported below
  }
  throw invalidOption('list cursor', cursor, 'the cursor of the page before');
}
