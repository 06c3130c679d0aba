import { AgentError } from '../errors/agent-error.ts';
import type { Session } from '../sessions/session.ts';
import { sessionNotFound } from '../sessions/session-errors.ts';
import { exitCodeNamed } from './exit-codes.ts';
import type { Project } from './project.ts';
import { usageError } from './usage-error.ts';

/** Minimum characters of an id: shorter ones could match by accident. */
const MIN_PREFIX = 4;
const PAGE = 500;

/** Finds a session: by its id, an unambiguous beginning of it, or `last` for the newest change. */
export async function findSession(project: Project, said: string): Promise<Session> {
  const { runtime, owner, command } = project;
  if (said === 'last') {
    const [newest] = (await runtime.list({ owner, limit: 1 })).sessions;
    if (newest) return newest;
    throw new AgentError(
      'session_not_found',
      `${owner} has no sessions yet. Start one with: ${command} run "…"`,
      { details: { exitCode: exitCodeNamed('session_not_found') } },
    );
  }
  try {
    return await runtime.get(said, { owner });
  } catch (error) {
    if (!AgentError.is(error, 'session_not_found')) throw error;
  }
  const ids = said.length < MIN_PREFIX ? [] : await idsBeginning(project, said);
  const [only, ...others] = ids;
  if (only === undefined) throw notFound(said, project);
  if (others.length > 0)
    throw usageError(
      `Several sessions start with ${said}: ${ids.slice(0, 5).join(', ')}. Type more characters.`,
    );
  return runtime.get(only, { owner });
}

const notFound = (said: string, { owner, command }: Project): AgentError => {
  const { details } = sessionNotFound(said);
  const short =
    said.length < MIN_PREFIX ? ` The beginning of an id needs ${MIN_PREFIX} characters.` : '';
  return new AgentError(
    'session_not_found',
    `There is no session "${said}" of ${owner}.${short} List them with: ${command} sessions list`,
    { details: { ...details } },
  );
};

async function idsBeginning({ store, owner }: Project, prefix: string): Promise<string[]> {
  const found: string[] = [];
  let after: { readonly updatedAt: string; readonly id: string } | undefined;
  for (;;) {
    const rows = await store.list({ owner, limit: PAGE, ...(after && { after }) });
    for (const { id } of rows) if (id.startsWith(prefix)) found.push(id);
    const last = rows.at(-1);
    if (rows.length < PAGE || !last) return found;
    after = { updatedAt: last.updatedAt, id: last.id };
  }
}
