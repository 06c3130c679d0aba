import { userInfo } from 'node:os';
import { sessionOperator, type ParkedSession } from '../../sessions/session-operator.ts';
import { AgentError } from '../../errors/agent-error.ts';
import { counted } from '../../number-text.ts';
import { withProject, type CliContext } from '../cli-context.ts';
import { ago, oneLine, shortId } from '../format.ts';
import type { Project } from '../project.ts';
import { textTable } from '../text-table.ts';
import { usageError } from '../usage-error.ts';

export interface ParkedCommandOptions {
  /** Sessions to retry; true means all that are listed. */
  readonly retry?: true | readonly string[];
  readonly agent?: string;
  readonly limit: number;
  readonly yes?: boolean;
  /** Who retries, for the record. Default: the user of the system. */
  readonly by?: string;
}

/** What is listed, and whether there is more. */
interface Listed {
  readonly sessions: readonly ParkedSession[];
  readonly hasMore: boolean;
}

const PAGE = 200;
/** Minimum characters of an id: shorter ones could match by accident. */
const MIN_PREFIX = 4;

/** Lists parked sessions of all owners, or of one; `--retry` continues them. */
export const parked = (context: CliContext, options: ParkedCommandOptions): Promise<number> =>
  withProject(
    context,
    async (project) => {
      const { retry } = options;
      if (Array.isArray(retry)) {
        const all = await listed(context, project, { ...options, limit: Infinity });
        return retried(context, project, options, {
          sessions: chosen(all.sessions, retry),
          hasMore: false,
        });
      }
      const found = await listed(context, project, options);
      if (retry !== undefined) return retried(context, project, options, found);
      print(context, found);
      return 0;
    },
    // a process that serves these sessions does the work
    { isDetached: true },
  );

async function listed(
  { options: { owner } }: CliContext,
  { runtime }: Project,
  { agent, limit }: ParkedCommandOptions,
): Promise<Listed> {
  const operator = sessionOperator(runtime);
  const sessions: ParkedSession[] = [];
  let cursor: string | null = null;
  do {
    const page = await operator.parked({
      limit: Math.min(PAGE, limit - sessions.length),
      ...(owner !== undefined && { owner }),
      ...(agent !== undefined && { agent }),
      ...(cursor !== null && { cursor }),
    });
    sessions.push(...page.sessions);
    ({ cursor } = page);
  } while (cursor !== null && sessions.length < limit);
  return { sessions, hasMore: cursor !== null };
}

function chosen(
  sessions: readonly ParkedSession[],
  names: readonly string[],
): readonly ParkedSession[] {
  const found = names.map((name) => {
    const fitting = sessions.filter(
      ({ id }) => id === name || (name.length >= MIN_PREFIX && id.startsWith(name)),
    );
    const [only] = fitting.length > 1 ? fitting.filter(({ id }) => id === name) : fitting;
    if (only) return only;
    throw new AgentError(
      'session_not_found',
      fitting.length > 1
        ? `Several parked sessions start with ${name}. Type more characters.`
        : `There is no parked session "${name}". The first ${MIN_PREFIX} characters of an id are enough.`,
      { details: { sessionId: name } },
    );
  });
  return [...new Set(found)];
}

async function retried(
  context: CliContext,
  { runtime }: Project,
  { yes = false, by = userName() }: ParkedCommandOptions,
  { sessions, hasMore }: Listed,
): Promise<number> {
  if (sessions.length > 1 && !yes && !(await isConfirmed(context, sessions))) {
    context.note('Nothing was retried.');
    return 0;
  }
  const operator = sessionOperator(runtime);
  let count = 0;
  for (const session of sessions) {
    const isRetried = (await operator.retry([session.id], { by })).retried.length > 0;
    if (!isRetried) continue; // another operator was quicker
    count += 1;
    if (context.isJson) context.printJson(lineOf('retried', session));
    else context.print(session.id);
  }
  if (context.isJson) return 0;
  if (count === 0) context.note('No session is parked.');
  else
    context.note(
      `${counted(count, 'session')} will be retried. A running \`onward dev\` continues them within ` +
        `seconds, else: ${context.command('recover')}`,
    );
  if (hasMore) context.note('More sessions are parked. Retry them with a larger --limit.');
  return 0;
}

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username || 'operator';
  } catch {
    return 'operator';
  }
}

/** Without a terminal it requires `--yes`. */
async function isConfirmed(
  context: CliContext,
  sessions: readonly ParkedSession[],
): Promise<boolean> {
  const what = counted(sessions.length, 'session');
  if (!context.io.isTTY || context.isJson)
    throw usageError(`This would retry ${what}. Confirm with --yes.`);
  for (const line of table(context, sessions)) context.note(line);
  const answer = await context.io.ask(`Retry ${what}? [y/N] `);
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

function print(context: CliContext, { sessions, hasMore }: Listed): void {
  if (context.isJson) {
    for (const session of sessions) context.printJson(lineOf('parked', session));
    return;
  }
  if (sessions.length === 0) {
    context.note('No session is parked.');
    return;
  }
  for (const line of table(context, sessions)) context.print(line);
  if (hasMore)
    context.note(`The last ${counted(sessions.length, 'parked session')}; more with --limit.`);
  context.note(`Fix the cause, then continue them with: ${context.command('parked', '--retry')}`);
}

const retryLine = (last: ParkedSession['lastRetry'], now: number): string[] =>
  last === null
    ? []
    : [`  retried by ${oneLine(last.by ?? 'an unknown person', 40)} ${ago(last.at, now)}`];

const lineOf = (type: string, session: ParkedSession) => ({
  type,
  session_id: session.id,
  owner: session.owner,
  agent: session.agent,
  tries: session.tries,
  deaths: session.deaths,
  parked_at: session.parkedAt,
  last_retry: session.lastRetry,
  error: session.error,
});

/** Fits in 80 columns: the error of a session has a line of its own. */
function table({ paint }: CliContext, sessions: readonly ParkedSession[]): string[] {
  const now = Date.now();
  const [head = '', ...lines] = textTable(
    [
      { title: 'SESSION' },
      { title: 'OWNER' },
      { title: 'AGENT' },
      { title: 'TRIES', align: 'right' },
      { title: 'PARKED' },
    ],
    sessions.map(({ id, owner, agent, tries, parkedAt }) => [
      oneLine(shortId(id), 20),
      oneLine(owner, 18),
      oneLine(agent, 16),
      String(tries),
      ago(parkedAt, now),
    ]),
    paint,
    (text, column) => (column === 0 ? paint('cyan', text) : text),
  );
  return [
    head,
    ...lines.flatMap((line, i) => [
      line,
      paint('dim', `  ${oneLine(sessions[i]?.error ?? 'no reason was kept', 78)}`),
      ...retryLine(sessions[i]?.lastRetry ?? null, now).map((text) => paint('dim', text)),
    ]),
  ];
}
