import { invalidOption } from '../errors/agent-error.ts';

/** Characters that are valid in the channel names of every broadcaster and safe in paths and headers. */
const SESSION_ID = /^[A-Za-z0-9_\-=@,.;]{1,128}$/;
// oxlint-disable-next-line no-control-regex -- control characters are refused
const CONTROL = /[\u0000-\u001f\u007f]/;

export const isSessionId = (id: unknown): id is string =>
  typeof id === 'string' && SESSION_ID.test(id);

/**
 * Checks the id of a new session. A URL drops `.` and `..` from its path, so clients could not request those sessions.
 */
export function checkedSessionId(id: unknown): string {
  if (isSessionId(id) && id !== '.' && id !== '..') return id;
  throw invalidOption(
    'session id',
    id,
    'up to 128 letters, digits and _-=@,.; that are not . or .. alone',
  );
}

/** A lone surrogate is not text: a URL cannot carry it, and databases change it. */
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

/** Checks the name of someone who acts, for the record. */
export function checkedActor(by: unknown): string {
  if (isName(by)) return by;
  throw invalidOption('by', by, 'who acts, up to 200 characters');
}

export function checkedExecutionId(id: unknown): string {
  if (isName(id)) return id;
  throw invalidOption('executionId', id, 'a text of up to 200 characters');
}

/** Checks a position in a history or a log. */
export function checkedPlace(option: string, place: number): number {
  if (Number.isInteger(place) && place >= 0) return place;
  throw invalidOption(option, place, 'a whole number from 0');
}

export function checkedLimit(limit: number | undefined, most: number): number {
  if (limit === undefined) return Math.min(50, most);
  if (Number.isInteger(limit) && limit > 0) return Math.min(limit, most);
  throw invalidOption('limit', limit, `a whole number from 1 to ${most}`);
}
