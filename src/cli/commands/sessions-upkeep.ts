import type { Dropped } from '../../sessions/session-store.ts';
import { counted } from '../../number-text.ts';
import { olderThan } from '../age.ts';
import { withProject, type CliContext } from '../cli-context.ts';
import type { CliSignal } from '../cli-io.ts';
import { exitCodeOfSignal } from '../exit-codes.ts';
import { usageError } from '../usage-error.ts';

export interface UpkeepOptions {
  readonly olderThan: string;
  readonly allOwners?: boolean;
}

export interface ExpireCommandOptions extends UpkeepOptions {
  readonly waiting?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** Deletes data of old sessions that the next turn does not need. */
export const pruneSessions = (context: CliContext, options: UpkeepOptions): Promise<number> =>
  withProject(context, async ({ runtime, owner }) => {
    const request = { ...which(options, owner), onProgress: progressPrinter(context) };
    return untilDone(context, 'pruned', (signal) => runtime.prune({ ...request, signal }));
  });

/** Deletes old sessions. Asks first; without a terminal it requires `--yes`. */
export const expireSessions = (
  context: CliContext,
  options: ExpireCommandOptions,
): Promise<number> =>
  withProject(context, async ({ runtime, owner }) => {
    const { waiting = false, dryRun = false, yes = false } = options;
    const request = { ...which(options, owner), waiting };
    const count = async (): Promise<number> =>
      (await runtime.expire({ ...request, dryRun: true })).sessions;
    if (dryRun) {
      const sessions = await count();
      if (context.isJson) context.printJson({ type: 'would_expire', sessions });
      else context.print(`Would delete ${counted(sessions, 'session')}.`);
      return 0;
    }
    if (!yes) {
      const what = counted(await count(), 'session');
      if (!context.io.isTTY || context.isJson)
        throw usageError(`This would delete ${what} permanently. Confirm with --yes.`);
      const answer = await context.io.ask(`Delete ${what} permanently? [y/N] `);
      if (!/^y(es)?$/i.test(answer?.trim() ?? '')) {
        context.note('Nothing was deleted.');
        return 0;
      }
    }
    const run = { ...request, onProgress: progressPrinter(context) };
    return untilDone(context, 'expired', (signal) => runtime.expire({ ...run, signal }));
  });

const which = (
  { olderThan: age, allOwners = false }: UpkeepOptions,
  owner: string,
): { readonly olderThan: Date; readonly owner?: string } => ({
  olderThan: olderThan(age, Date.now()),
  ...(!allOwners && { owner }),
});

const PROGRESS_MS = 2_000;

/** Prints a progress line from time to time. */
function progressPrinter(context: CliContext): (dropped: Dropped) => void {
  let last = Date.now();
  return (dropped) => {
    if (context.isJson || Date.now() - last < PROGRESS_MS) return;
    last = Date.now();
    context.note(`  … ${summaryOf(dropped)}`);
  };
}

/** Handles Ctrl-C: ends after the current batch. Deleted data stays deleted, and the next call continues. */
async function untilDone(
  context: CliContext,
  type: 'pruned' | 'expired',
  work: (signal: AbortSignal) => Promise<Dropped>,
): Promise<number> {
  const control = new AbortController();
  let caught: CliSignal | null = null;
  const endSignals = context.io.onSignal((signal) => {
    if (caught) return context.io.exit(exitCodeOfSignal(signal));
    caught = signal;
    control.abort();
  });
  try {
    const dropped = await work(control.signal);
    const isDone = caught === null;
    if (context.isJson) context.printJson({ type, ...dropped, done: isDone });
    else {
      const verb = type === 'pruned' ? 'Pruned' : 'Deleted';
      context.print(
        `${verb} ${summaryOf(dropped)}${isDone ? '.' : ', and was interrupted before the end.'}`,
      );
    }
    return caught === null ? 0 : exitCodeOfSignal(caught);
  } finally {
    endSignals();
  }
}

const summaryOf = ({ sessions, rows }: Dropped): string =>
  `${counted(sessions, 'session')}, ${counted(rows, 'row')}`;
