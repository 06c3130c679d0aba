import type { AgentStatus } from '../../agent/agent-status.ts';
import { summaryOf } from '../../server/session-views.ts';
import type { Session } from '../../sessions/session.ts';
import { reasonText, searchSessions } from '../../trace/index.ts';
import { counted } from '../../number-text.ts';
import { withProject, type CliContext } from '../cli-context.ts';
import { ago, oneLine, shortId } from '../format.ts';
import type { Project } from '../project.ts';
import { statusMark } from '../status-mark.ts';
import { textTable } from '../text-table.ts';
import { usageError } from '../usage-error.ts';

export interface ListOptions {
  readonly status?: string;
  readonly agent?: string;
  readonly search?: string;
  readonly limit: number;
}

/** Status names of the command line, and those of the store. Cancelled sessions are stopped ones. */
const statuses: Readonly<Record<string, AgentStatus>> = {
  idle: 'pending',
  pending: 'pending',
  processing: 'in_progress',
  working: 'in_progress',
  in_progress: 'in_progress',
  paused: 'paused',
  waiting: 'paused',
  completed: 'completed',
  stopped: 'stopped',
  cancelled: 'stopped',
  failed: 'failed',
};

/** Lists sessions, newest change first, with the reason for each status. */
export const listSessions = (context: CliContext, options: ListOptions): Promise<number> =>
  withProject(context, async (project) => {
    const { sessions, hasMore } = await found(project, options);
    if (context.isJson) {
      for (const session of sessions) context.printJson(summaryOf(session));
      return 0;
    }
    if (sessions.length === 0) {
      context.note(nothingText(context, project, options));
      return 0;
    }
    for (const line of table(context, sessions)) context.print(line);
    if (hasMore)
      context.note(
        context.paintNote(
          'dim',
          `The newest ${counted(sessions.length, 'session')}; more with --limit.`,
        ),
      );
    return 0;
  });

async function found(
  { runtime, owner }: Project,
  options: ListOptions,
): Promise<{ readonly sessions: readonly Session[]; readonly hasMore: boolean }> {
  const { search, agent, limit } = options;
  const filter = {
    owner,
    ...(agent !== undefined && { agent }),
    ...(options.status !== undefined && statusNamed(options.status)),
  };
  const sessions: Session[] = [];
  let cursor: string | null | undefined;
  do {
    const page = {
      ...filter,
      limit: Math.min(200, limit - sessions.length),
      ...(cursor && { cursor }),
    };
    const read = await (search === undefined
      ? runtime.list(page)
      : searchSessions(runtime, { ...page, search }));
    sessions.push(...read.sessions);
    cursor = read.cursor;
  } while (cursor !== null && sessions.length < limit);
  return { sessions, hasMore: cursor !== null };
}

function statusNamed(
  name: string,
): { readonly status: AgentStatus } | { readonly phase: 'parked' } {
  if (name === 'parked') return { phase: 'parked' };
  const status = Object.hasOwn(statuses, name) ? statuses[name] : undefined;
  if (status !== undefined) return { status };
  const known = [...Object.keys(statuses), 'parked'].join(', ');
  throw usageError(`--status got "${name}", expected one of ${known}.`);
}

function table({ paint }: CliContext, sessions: readonly Session[]): string[] {
  const now = Date.now();
  const hasAgents = new Set(sessions.map(({ agent }) => agent)).size > 1;
  const rows = sessions.map((session) => [
    shortId(session.id),
    statusMark(session).glyph,
    oneLine(session.title ?? '(no message yet)', 48),
    oneLine(reasonText(session), 48),
    ...(hasAgents ? [session.agent] : []),
    ago(session.updatedAt, now),
  ]);
  const columns = [
    { title: 'SESSION' },
    { title: '' },
    { title: 'TITLE' },
    { title: 'WHY' },
    ...(hasAgents ? [{ title: 'AGENT' }] : []),
    { title: 'CHANGED' },
  ];
  return textTable(columns, rows, paint, (text, column, row) => {
    const session = sessions[row];
    if (column === 0) return paint('cyan', text);
    if (column === 1 && session) return paint(statusMark(session).style, text);
    return column === columns.length - 1 ? paint('dim', text) : text;
  });
}

const nothingText = (
  { command }: CliContext,
  { owner }: Project,
  { search, status, agent }: ListOptions,
): string =>
  search === undefined && status === undefined && agent === undefined
    ? `${owner} has no sessions yet. Start one with: ${command('run', '"…"')}`
    : 'No session matches.';
