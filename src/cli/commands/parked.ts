import type { SessionRow } from '../../sessions/session-rows.ts';
import { AgentError } from '../../errors/agent-error.ts';
import { counted } from '../../number-text.ts';
import { withProject, type CliContext } from '../cli-context.ts';
import { ago, oneLine, shortId } from '../format.ts';
import type { Project } from '../project.ts';
import { textTable } from '../text-table.ts';

export interface ParkedOptions {
  /** True: all of them. */
  readonly retry?: true | readonly string[];
}

const PAGE = 500;
/** Shorter beginnings of an id would hit by accident. */
const LEAST_PREFIX = 4;

/** Sessions that were set aside, of all owners unless one is named; with `--retry` they are continued. */
export const parked = (context: CliContext, { retry }: ParkedOptions): Promise<number> =>
  withProject(
    context,
    async (project) => {
      const rows = await parkedRows(project, context.options.owner);
      if (retry !== undefined) return retried(context, project, chosen(rows, retry));
      if (context.isJson) for (const row of rows) context.printJson(lineOf('parked', row));
      else if (rows.length === 0) context.note('Nothing is parked.');
      else {
        for (const line of table(context, rows)) context.print(line);
        context.note(`Continue them with: ${context.command('parked', '--retry')}`);
      }
      return 0;
    },
    // a process that serves these sessions does the work
    { isDetached: true },
  );

async function parkedRows({ store }: Project, owner: string | undefined): Promise<SessionRow[]> {
  const found: SessionRow[] = [];
  for (;;) {
    const last = found.at(-1);
    const rows = await store.list({
      phase: 'parked',
      limit: PAGE,
      ...(owner !== undefined && { owner }),
      ...(last && { after: { updatedAt: last.updatedAt, id: last.id } }),
    });
    found.push(...rows);
    if (rows.length < PAGE) return found;
  }
}

function chosen(
  rows: readonly SessionRow[],
  said: NonNullable<ParkedOptions['retry']>,
): readonly SessionRow[] {
  if (said === true) return rows;
  return said.map((name) => {
    const found = rows.filter(
      ({ id }) => id === name || (name.length >= LEAST_PREFIX && id.startsWith(name)),
    );
    const [only] = found.length > 1 ? found.filter(({ id }) => id === name) : found;
    if (only) return only;
    throw new AgentError(
      'session_not_found',
      found.length > 1
        ? `Several parked sessions begin with ${name}. Type more of it.`
        : `There is no parked session "${name}". The first ${LEAST_PREFIX} letters of an id are enough.`,
      { details: { sessionId: name } },
    );
  });
}

async function retried(
  context: CliContext,
  { runtime }: Project,
  rows: readonly SessionRow[],
): Promise<number> {
  for (const row of rows) {
    await runtime.retry(row.id, { owner: row.owner });
    if (context.isJson) context.printJson(lineOf('retried', row));
    else context.print(row.id);
  }
  if (context.isJson) return 0;
  context.note(
    rows.length === 0
      ? 'Nothing is parked.'
      : `${counted(rows.length, 'session')} to be worked on again. A running \`onward dev\` takes them up within ` +
          `seconds, else: ${context.command('recover')}`,
  );
  return 0;
}

const lineOf = (
  type: string,
  { id, owner, agent, tries, deaths, parkedAt, error }: SessionRow,
) => ({
  type,
  session_id: id,
  owner,
  agent,
  tries,
  deaths,
  parked_at: parkedAt,
  error,
});

function table({ paint }: CliContext, rows: readonly SessionRow[]): string[] {
  const now = Date.now();
  const columns = ['SESSION', 'OWNER', 'AGENT', 'TRIES', 'PARKED', 'ERROR'];
  return textTable(
    columns.map((title) => ({ title })),
    rows.map(({ id, owner, agent, tries, parkedAt, updatedAt, error }) => [
      shortId(id),
      oneLine(owner, 24),
      oneLine(agent, 24),
      String(tries),
      ago(parkedAt ?? updatedAt, now),
      oneLine(error ?? '', 100),
    ]),
    paint,
    (text, column) => (column === 0 ? paint('cyan', text) : text),
  );
}
