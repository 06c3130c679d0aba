import { withProject, type CliContext } from '../cli-context.ts';
import { driveSession, logPosition } from '../drive-session.ts';
import { findSession } from '../find-session.ts';
import { shortId } from '../format.ts';
import type { Project } from '../project.ts';
import { accepted } from '../with-work.ts';

export interface StopOptions {
  readonly reason?: string;
  readonly detach?: boolean;
}

/** Milliseconds between repeated requests: the worker may be dead, and its lease expires first. */
const REPEAT_MS = 2_000;

/** Stops a session, in any process. */
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
        else context.note(`Session ${shortId(id)} is not busy: it is ${status}.`);
        return 0;
      }
      const again = setInterval(() => void ask().catch(() => {}), REPEAT_MS);
      try {
        await driveSession(context, project, {
          sessionId: id,
          from: await logPosition(project, session),
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
