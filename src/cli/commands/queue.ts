import type { QueueCounts, QueueView } from '../../sessions/queue-view.ts';
import { sessionOperator } from '../../sessions/session-operator.ts';
import { counted, countText } from '../../number-text.ts';
import { withProject, type CliContext } from '../cli-context.ts';
import { roughDuration } from '../duration-text.ts';
import { oneLine } from '../format.ts';
import { textTable, type Column } from '../text-table.ts';
import { showOrWatch } from '../watch.ts';
import type { WatchOptions } from './workers.ts';

/** Counts the sessions that wait, run and are parked, of all owners. */
export const queue = (context: CliContext, { watch = false }: WatchOptions): Promise<number> =>
  withProject(
    context,
    ({ runtime }) =>
      showOrWatch(context, watch, async () =>
        print(context, await sessionOperator(runtime).queue()),
      ),
    { isDetached: true },
  );

function print(context: CliContext, found: QueueView): void {
  if (context.isJson) {
    const agents = found.agents.map(({ agent, ...counts }) => ({ agent, ...countsOf(counts) }));
    context.printJson({ type: 'queue', ...countsOf(found), agents });
    return;
  }
  if (found.agents.length === 0) {
    context.note(
      `No session waits, runs or is parked. Start one with: ${context.command('run', '"…"')}`,
    );
    return;
  }
  for (const line of table(context, found)) context.print(line);
  for (const note of notes(context, found)) context.note(note);
}

const countsOf = (counts: QueueCounts) => ({
  waiting: counts.waiting,
  oldest_waiting_ms: counts.oldestWaitingMs,
  active: counts.active,
  recovered: counts.recovered,
  expired: counts.expired,
  parked: counts.parked,
  workers: counts.workers,
});

const columns: readonly Column[] = [
  { title: 'AGENT' },
  { title: 'WAITING', align: 'right' },
  { title: 'OLDEST', align: 'right' },
  { title: 'ACTIVE', align: 'right' },
  { title: 'RECOVERED', align: 'right' },
  { title: 'LOST', align: 'right' },
  { title: 'PARKED', align: 'right' },
  { title: 'WORKERS', align: 'right' },
];

/** Fits in 80 columns. */
function table({ paint }: CliContext, found: QueueView): string[] {
  const rows = found.agents.map((row) => [oneLine(row.agent, 20), ...cellsOf(row)]);
  if (rows.length > 1) rows.push(['all', ...cellsOf(found)]);
  return textTable(columns, rows, paint, (text, column, row) =>
    column === 0 ? paint(row < found.agents.length ? 'cyan' : 'bold', text) : text,
  );
}

const cellsOf = (counts: QueueCounts): string[] => [
  countText(counts.waiting),
  counts.oldestWaitingMs === null ? '-' : roughDuration(counts.oldestWaitingMs),
  countText(counts.active),
  countText(counts.recovered),
  countText(counts.expired),
  countText(counts.parked),
  countText(counts.workers),
];

function notes(context: CliContext, { agents, parked }: QueueView): string[] {
  const stuck = agents.filter(
    ({ waiting, expired, workers }) => waiting + expired > 0 && workers === 0,
  );
  return [
    ...stuck.map(
      ({ agent, waiting, expired }) =>
        `No worker has reported agent ${oneLine(agent, 40)}, which has ${counted(waiting + expired, 'session')} to do. ` +
        `Start one with: ${context.command('dev')}`,
    ),
    ...(parked > 0 ? [`See what is parked with: ${context.command('parked')}`] : []),
  ];
}
