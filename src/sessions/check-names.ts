import { invalidOption } from '../errors/agent-error.ts';

/** What a channel name of every broadcaster can hold, and no path or header can misread. */
const SESSION_ID = /^[A-Za-z0-9_\-=@,.;]{1,128}$/;
// oxlint-disable-next-line no-control-regex -- control characters are what is refused
const CONTROL = /[\u0000-\u001f\u007f]/;

export const isSessionId = (id: unknown): id is string =>
  typeof id === 'string' && SESSION_ID.test(id);

/** For new sessions. A URL drops `.` and `..` from its path, so no client could ask for such a session. */
export function checkedSessionId(id: unknown): string {
  if (isSessionId(id) && id !== '.' && id !== '..') return id;
  throw invalidOption(
    'session id',
    id,
    'up to 128 letters, digits and _-=@,.; that are not . or .. alone',
  );
}

/** Half of a pair is no text: no URL can carry it, and databases store something else. */
const LONE_SURROGATE = /\p{Surrogate}/u;

const isName = (name: unknown): name is string =>
  typeof name === 'string' &&
  name !== '' &&
  name.length <= 200 &&
  !CONTROL.test(name) &&
  !LONE_SURROGATE.test(name);

export function checkedOwner(owner: unknown): string {
  if (isName(owner)) return owner;
  throw invalidOption('owner', owner, 'the id of the user or tenant, up to 200 characters');
}

export function checkedExecutionId(id: unknown): string {
  if (isName(id)) return id;
  throw invalidOption('executionId', id, 'a text of up to 200 characters');
}

/** A place in a history or a log. */
export function checkedPlace(option: string, place: number): number {
  if (Number.isInteger(place) && place >= 0) return place;
  throw invalidOption(option, place, 'a whole number from 0');
}

export function checkedLimit(limit: number | undefined, most: number): number {
  if (limit === undefined) return Math.min(50, most);
  if (Number.isInteger(limit) && limit > 0) return Math.min(limit, most);
  throw invalidOption('limit', limit, `a whole number from 1 to ${most}`);
}
