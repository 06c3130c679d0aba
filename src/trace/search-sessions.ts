import type { AgentStatus } from '../agent/agent-status.ts';
import { AgentError } from '../errors/agent-error.ts';
import { textOf } from '../messages/content-part.ts';
import type { MessageJSON } from '../messages/message.ts';
import { pacer } from '../pacing.ts';
import type { OwnerOptions } from '../sessions/session-options.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { SessionPhase } from '../sessions/session-rows.ts';
import type { Session } from '../sessions/session.ts';
import { reasonText } from './reason-text.ts';

/** Page size. Small, because a search stops only between two pages: its cursor must not skip unread sessions. */
const PAGE = 10;
const MAX_SESSIONS = 300;
const MAX_MS = 400;
/** Maximum messages to search in each session, the newest. */
const MAX_MESSAGES = 100;

export interface SearchSessionsOptions extends OwnerOptions {
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

export interface SessionSearchPage {
  readonly sessions: readonly Session[];
  /** Cursor of the next page; null when all sessions were searched. An empty page is not necessarily the last. */
  readonly cursor: string | null;
}

/** Searches titles, agents, ids and reasons, then messages and tools, newest change first. */
export async function searchSessions(
  runtime: SessionRuntime,
  options: SearchSessionsOptions,
): Promise<SessionSearchPage> {
  const { owner, search, limit = 50, status, phase, agent } = options;
  const { maxSessions = MAX_SESSIONS, maxMs = MAX_MS } = options;
  const wanted = plain(search).split(/\s+/).filter(Boolean);
  const found: Session[] = [];
  const endsAt = performance.now() + maxMs;
  let { cursor } = options;
  for (let seen = 0; ;) {
    const page = await runtime.list({
      owner,
      limit: Math.min(PAGE, limit - found.length, maxSessions - seen),
      ...(cursor !== undefined && { cursor }),
      ...(status !== undefined && { status }),
      ...(phase !== undefined && { phase }),
      ...(agent !== undefined && { agent }),
    });
    for (const session of page.sessions)
      if (await matches(runtime, session, wanted)) found.push(session);
    seen += page.sessions.length;
    if (page.cursor === null) return { sessions: found, cursor: null };
    cursor = page.cursor;
    if (found.length >= limit || seen >= maxSessions || performance.now() >= endsAt)
      return { sessions: found, cursor };
  }
}

/** Removes case and accents: "muller" matches "Müller". */
const plain = (text: string): string =>
  text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();

async function matches(
  runtime: SessionRuntime,
  session: Session,
  wanted: readonly string[],
): Promise<boolean> {
  const { id, agent, title } = session;
  let missing = without(wanted, `${title ?? ''}\n${agent}\n${id}\n${reasonText(session)}`);
  if (missing.length === 0) return true;
  const pause = pacer(session.owner);
  for (const { role, content, toolCalls } of await newestMessages(runtime, session)) {
    // all sessions of an agent have the same instructions
    if (role === 'system' || role === 'developer') continue;
    await pause();
    missing = without(missing, [textOf(content), ...toolCalls.map(({ name }) => name)].join('\n'));
    if (missing.length === 0) return true;
  }
  return false;
}

async function newestMessages(
  runtime: SessionRuntime,
  { id, owner }: Session,
): Promise<readonly MessageJSON[]> {
  try {
    return (await runtime.messages(id, { owner, limit: MAX_MESSAGES })).items;
  } catch (error) {
    // deleted since it was listed
    if (AgentError.is(error, 'session_not_found')) return [];
    throw error;
  }
}

const without = (wanted: readonly string[], text: string): readonly string[] => {
  const there = plain(text);
  return wanted.filter((word) => !there.includes(word));
};
