import { invalidOption } from '../errors/agent-error.ts';
import { isSessionId } from './check-names.ts';
import type { SessionRow } from './session-rows.ts';

interface ListPlace extends Pick<SessionRow, 'updatedAt' | 'id'> {
  /** Value in an order other than the last change. */
  readonly value?: string | number;
}

export const cursorOf = (place: ListPlace | null): string | null =>
  place &&
  btoa(
    JSON.stringify([
      place.updatedAt,
      place.id,
      ...(place.value === undefined ? [] : [place.value]),
    ]),
  );

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]{8,15}Z$/.test(value);

export function placeOf(cursor: string): ListPlace {
  try {
    const [updatedAt, id, value] = JSON.parse(atob(cursor)) as unknown[];
    if (isTime(updatedAt) && isSessionId(id))
      return {
        updatedAt,
        id,
        ...((isTime(value) || Number.isFinite(value)) && { value: value as string | number }),
      };
  } catch {
    // reported below
  }
  throw invalidOption('list cursor', cursor, 'the cursor of the page before');
}
