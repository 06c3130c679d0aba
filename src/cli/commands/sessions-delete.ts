import { counted } from '../../number-text.ts';
import { withProject, type CliContext } from '../cli-context.ts';
import { findSession } from '../find-session.ts';
import { oneLine, shortId } from '../format.ts';
import { usageError } from '../usage-error.ts';

/** Deletes sessions and all their data. Asks first; without a terminal it requires `--yes`. */
export const deleteSessions = (
  context: CliContext,
  said: readonly string[],
  { yes = false }: { readonly yes?: boolean },
): Promise<number> =>
  withProject(context, async (project) => {
    const { runtime, owner } = project;
    // find all before deleting the first; `last` would move
    const sessions = [];
    for (const each of said) sessions.push(await findSession(project, each));
    const unique = [...new Map(sessions.map((session) => [session.id, session])).values()];
    if (!yes) {
      if (!context.io.isTTY || context.isJson)
        throw usageError(
          `This would delete ${counted(unique.length, 'session')} permanently. Confirm with --yes.`,
        );
      for (const { id, title } of unique)
        context.note(`  ${shortId(id)}  ${oneLine(title ?? '(no message yet)', 70)}`);
      const answer = await context.io.ask(
        `Delete ${counted(unique.length, 'session')} permanently? [y/N] `,
      );
      if (!/^y(es)?$/i.test(answer?.trim() ?? '')) {
        context.note('Nothing was deleted.');
        return 0;
      }
    }
    for (const { id } of unique) {
      await runtime.delete(id, { owner });
      if (context.isJson) context.printJson({ type: 'deleted', id });
    }
    if (!context.isJson) context.note(`Deleted ${counted(unique.length, 'session')}.`);
    return 0;
  });
