import { sessionOperator } from '../../sessions/session-operator.ts';
import type { WorkerStatus, WorkerView } from '../../sessions/worker-view.ts';
import { counted } from '../../number-text.ts';
import { withProject, type CliContext } from '../cli-context.ts';
import { roughDuration } from '../duration-text.ts';
import { oneLine, shortId } from '../format.ts';
import type { Paint } from '../paint.ts';
import { textTable, type Column } from '../text-table.ts';
import { showOrWatch } from '../watch.ts';

export interface WatchOptions {
  readonly watch?: boolean;
}

const styles: Readonly<Record<WorkerStatus, Parameters<Paint>[0]>> = {
  busy: 'green',
  idle: 'dim',
  draining: 'yellow',
  lost: 'red',
};

/** Lists the workers of all processes on this store. */
export const workers = (context: CliContext, { watch = false }: WatchOptions): Promise<number> =>
  withProject(
    context,
    ({ runtime }) =>
      showOrWatch(context, watch, async () =>
        print(context, await sessionOperator(runtime).workers()),
      ),
    { isDetached: true },
  );

function print(context: CliContext, found: readonly WorkerView[]): void {
  if (context.isJson) {
    for (const worker of found) context.printJson(lineOf(worker));
    return;
  }
  if (found.length === 0) {
    context.note(`No worker runs. Start one with: ${context.command('dev')}`);
    return;
  }
  for (const line of table(context, found)) context.print(line);
  const lost = found.filter(({ status }) => status === 'lost');
  const left = lost.reduce((total, { expired }) => total + expired, 0);
  if (lost.length === found.length)
    context.note(`No worker is left. Start one with: ${context.command('dev')}`);
  else if (left > 0)
    context.note(`Other workers take over ${counted(left, 'session')} of lost workers.`);
}

const lineOf = (worker: WorkerView) => ({
  type: 'worker',
  worker_id: worker.id,
  status: worker.status,
  host: worker.host,
  pid: worker.pid,
  agents: worker.agents,
  started_at: worker.startedAt,
  active: worker.active,
  leases: worker.leases,
  expired: worker.expired,
  seen_ms_ago: worker.seenMsAgo,
});

/** Fits in 80 columns. */
function table({ paint }: CliContext, found: readonly WorkerView[]): string[] {
  const now = Date.now();
  const hasLost = found.some(({ expired }) => expired > 0);
  const columns: readonly Column[] = [
    { title: 'WORKER' },
    { title: 'STATUS' },
    { title: 'LEASES', align: 'right' },
    ...(hasLost ? [{ title: 'LOST', align: 'right' } as const] : []),
    { title: 'UP', align: 'right' },
    { title: 'SEEN', align: 'right' },
    { title: 'AGENTS' },
    { title: 'PROCESS' },
  ];
  const rows = found.map((worker) => [
    oneLine(shortId(worker.id), 8),
    worker.status,
    String(worker.leases),
    ...(hasLost ? [String(worker.expired)] : []),
    worker.startedAt === null ? '?' : roughDuration(now - Date.parse(worker.startedAt)),
    worker.seenMsAgo === null ? '?' : roughDuration(worker.seenMsAgo),
    worker.agents === null ? '?' : oneLine(worker.agents.join(', '), 12),
    processText(worker, hasLost ? 8 : 14),
  ]);
  return textTable(columns, rows, paint, (text, column, row) => {
    const status = found[row]?.status;
    if (column === 0) return paint('cyan', text);
    return column === 1 && status ? paint(styles[status], text) : text;
  });
}

function processText({ host, pid }: WorkerView, most: number): string {
  const name = host === null ? '?' : oneLine(host, most);
  return pid === null ? name : `${name}:${pid}`;
}
