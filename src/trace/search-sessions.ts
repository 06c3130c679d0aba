import type { AgentStatus } from '../agent/agent-status.ts';
import { AgentError } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import { textOf } from '../messages/content-part.ts';
import type { MessageJSON } from '../messages/message.ts';
import { pacer } from '../pacing.ts';
import type { AllSessionsOptions } from '../sessions/list-query.ts';
import type { OwnerOptions, SessionSelection } from '../sessions/session-options.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { SessionPhase } from '../sessions/session-rows.ts';
import type { Session, SessionPage } from '../sessions/session.ts';
import { excerptOf, plainText, wordsOf, type Excerpt, type MatchPlace } from './match-text.ts';
import { reasonText } from './reason-text.ts';

/** Page size. Small, because a search stops only between two pages: its cursor must not skip unread sessions. */
const PAGE = 10;
const MAX_SESSIONS = 300;
const MAX_MS = 400;
/** Maximum messages to search in each session, the newest. */
const MAX_MESSAGES = 100;
/** Maximum characters of a text to search for the excerpt. */
const MAX_CHARACTERS = 100_000;

export interface SearchSessionsOptions extends OwnerOptions, SessionSelection {
  /** Search text; every word must match. */
  readonly search: string;
  /** Maximum sessions to return. Default 50. */
  readonly limit?: number;
  readonly cursor?: string;
  readonly status?: AgentStatus;
  readonly phase?: SessionPhase;
  readonly agent?: string;
  /** Maximum sessions to search before the search returns the sessions found so far. */
  readonly maxSessions?: number;
  /** Maximum milliseconds of a search. */
  readonly maxMs?: number;
}

/** Why a session was found. */
export interface SessionMatch extends Excerpt {
  readonly place: MatchPlace;
  /** Number of the step, in its run; null if it is not in a step. */
  readonly step: number | null;
  /** Run of the step; null if it is not in a step. */
  readonly executionId: string | null;
  /** Name of the tool; null if there is none. */
  readonly tool: string | null;
  /** Number of other places that match, as far as they were read. */
  readonly more: number;
}

export interface SessionSearchPage {
  readonly sessions: readonly Session[];
  /** Why each session was found, by id. A session that matches an empty search is not in it. */
  readonly matches: Readonly<Record<string, SessionMatch>>;
  /** Cursor of the next page; null when all sessions were searched. An empty page is not necessarily the last. */
  readonly cursor: string | null;
}

/** Searches titles, agents, ids, reasons and errors, then messages and tools, newest change first. */
export const searchSessions = (
  runtime: SessionRuntime,
  options: SearchSessionsOptions,
): Promise<SessionSearchPage> =>
  searchIn(runtime, (page) => runtime.list({ ...page, owner: options.owner }), options);

/** Searches the sessions of a list, which decides whose they are. */
export async function searchIn(
  runtime: SessionRuntime,
  list: (page: AllSessionsOptions) => Promise<SessionPage>,
  {
    search,
    limit = 50,
    maxSessions = MAX_SESSIONS,
    maxMs = MAX_MS,
    cursor: start,
    ...filter
  }: Omit<SearchSessionsOptions, 'owner'> & { readonly owner?: string },
): Promise<SessionSearchPage> {
  const wanted = wordsOf(search);
  const found: Session[] = [];
  const matches: Record<string, SessionMatch> = {};
  const endsAt = performance.now() + maxMs;
  let cursor = start;
  for (let seen = 0; ;) {
    const page = await list({
      ...filter,
      limit: Math.min(PAGE, limit - found.length, maxSessions - seen),
      ...(cursor !== undefined && { cursor }),
    });
    for (const session of page.sessions) {
      const match = await matchIn(runtime, session, wanted);
      if (match === null) continue;
      found.push(session);
      if (match !== undefined) matches[session.id] = match;
    }
    seen += page.sessions.length;
    if (page.cursor === null) return { sessions: found, matches, cursor: null };
    cursor = page.cursor;
    if (found.length >= limit || seen >= maxSessions || performance.now() >= endsAt)
      return { sessions: found, matches, cursor };
  }
}

interface Place extends Pick<SessionMatch, 'place' | 'tool'> {
  readonly text: string;
  /** Position of the message; null if it is not in one. */
  readonly position: number | null;
}

/** Returns the best place; null if a word is missing, undefined if there are no words. */
async function matchIn(
  runtime: SessionRuntime,
  session: Session,
  wanted: readonly string[],
): Promise<SessionMatch | null | undefined> {
  if (wanted.length === 0) return undefined;
  const hits: { readonly place: Place; readonly words: number }[] = [];
  let missing = wanted;
  const look = (place: Place): void => {
    const there = plainText(place.text);
    const words = wanted.filter((word) => there.includes(word)).length;
    if (words === 0) return;
    hits.push({ place, words });
    missing = missing.filter((word) => !there.includes(word));
  };
  for (const place of placesOf(session)) look(place);
  // a title says best why a session was found
  if (missing.length > 0) {
    const pause = pacer(session.owner);
    for (const place of await messagePlaces(runtime, session)) {
      await pause();
      look(place);
    }
  }
  if (missing.length > 0) return null;
  const most = Math.max(...hits.map(({ words }) => words));
  const best = hits.find(({ words }) => words === most)?.place;
  const excerpt = best && excerptOf(best.text.slice(0, MAX_CHARACTERS), wanted);
  if (!best || !excerpt) return undefined;
  const { place, tool, position } = best;
  const at = position === null ? null : await stepOf(runtime, session, position);
  return {
    place,
    tool,
    step: at?.step ?? null,
    executionId: at?.executionId ?? null,
    ...excerpt,
    more: hits.length - 1,
  };
}

function placesOf(session: Session): readonly Place[] {
  const { id, agent, title, error } = session;
  const texts: readonly (readonly [MatchPlace, string | null])[] = [
    ['title', title],
    ['error', error],
    ['reason', reasonText(session)],
    ['agent', agent],
    ['id', id],
  ];
  return texts.map(([place, text]) => ({ place, text: text ?? '', tool: null, position: null }));
}

/** Returns what is in messages, newest first. */
async function messagePlaces(runtime: SessionRuntime, session: Session): Promise<readonly Place[]> {
  const { items, before } = await newestMessages(runtime, session);
  const first = before ?? 0;
  return items.flatMap((message, i) => placesIn(message, first + i)).toReversed();
}

function placesIn(message: MessageJSON, position: number): readonly Place[] {
  const { role, content, toolCalls, name, metadata } = message;
  // all sessions of an agent have the same instructions
  if (role === 'system' || role === 'developer') return [];
  const text = textOf(content);
  if (role === 'tool') {
    const result = metadata['toolResult'];
    const kind = isRecord(result) ? result['kind'] : undefined;
    const isError = kind === 'error' || kind === 'timeout';
    return [{ place: isError ? 'tool_error' : 'tool_result', text, tool: name, position }];
  }
  return [
    { place: role === 'assistant' ? 'answer' : 'message', text, tool: null, position },
    ...toolCalls.map((call): Place => ({
      place: 'tool',
      text: call.name,
      tool: call.name,
      position,
    })),
  ];
}

async function newestMessages(
  runtime: SessionRuntime,
  { id, owner }: Session,
): Promise<{ readonly items: readonly MessageJSON[]; readonly before: number | null }> {
  return orIfGone({ items: [], before: null }, () =>
    runtime.messages(id, { owner, limit: MAX_MESSAGES }),
  );
}

/** Returns the step that wrote a message; null before the first step. */
async function stepOf(
  runtime: SessionRuntime,
  { id, owner }: Session,
  position: number,
): Promise<{ readonly step: number; readonly executionId: string } | null> {
  const page = await orIfGone(null, () =>
    runtime.steps(id, { owner, beforeMessage: position + 1, limit: 1, omitLarge: true }),
  );
  const step = page?.items.at(-1);
  return step ? { step: step.number, executionId: step.executionId } : null;
}

/** Returns another value if the session was deleted since it was listed. */
async function orIfGone<T>(other: T, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (AgentError.is(error, 'session_not_found')) return other;
    throw error;
  }
}
