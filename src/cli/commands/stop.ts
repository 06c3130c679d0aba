import { withProject, type CliContext } from '../cli-context.ts';
import { driveSession, logPlace } from '../drive-session.ts';
import { findSession } from '../find-session.ts';
import { shortId } from '../format.ts';
import type { Project } from '../project.ts';
import { accepted } from '../with-work.ts';

export interface StopOptions {
  readonly reason?: string;
  readonly detach?: boolean;
}

/** How often the request is repeated: the worker may be dead, and its lease expires first. */
const AGAIN_MS = 2_000;

/** Ends the work on a session, wherever it runs. */
export async function stop(
  context: CliContext,
  said: string,
  options: StopOptions,
): Promise<number> {
  const isDetached = options.detach === true;
  return withProject(
    context,
    async (project) => {
      const session = await findSession(project, said);
      const { id, status, executionId } = session;
      const ask = asking(project, id, options.reason ?? 'stopped on the command line');
      if (isDetached) {
        await ask();
        return accepted(context, id, executionId);
      }
      if (status !== 'in_progress' && status !== 'paused') {
        if (context.isJson)
          context.printJson({ type: 'result', session_id: id, status, exit_code: 0 });
        else context.note(`Session ${shortId(id)} is not at work: it is ${status}.`);
        return 0;
      }
      const again = setInterval(() => void ask().catch(() => {}), AGAIN_MS);
      try {
        await driveSession(context, project, {
          sessionId: id,
          from: await logPlace(project, session),
          begin: ask,
          isStreamed: false,
          isStopping: true,
        });
      } finally {
        clearInterval(again);
      }
      return 0;
    },
    { isDetached },
  );
}

const asking =
  ({ runtime, owner }: Project, sessionId: string, reason: string) =>
  (): Promise<unknown> =>
    runtime.stop(sessionId, { owner, reason });
