import { uuid } from '../ids.ts';
import type { Session } from '../sessions/session.ts';
import { withProject, type CliContext } from './cli-context.ts';
import { driveSession, logPosition } from './drive-session.ts';
import { shortId } from './format.ts';
import type { Project } from './project.ts';

/** Options of all commands that run a session. */
export interface WorkOptions {
  readonly stream?: boolean;
  readonly detach?: boolean;
  readonly yes?: boolean;
}

interface Work {
  readonly sessionId: string;
  /** The session whose execution continues; absent for a new execution. */
  readonly resumed?: Session;
  /** Starts the work. */
  begin(executionId: string): Promise<{ readonly executionId: string | null }>;
}

/** Starts the work of `plan` and shows it until it ends or pauses, or leaves it to other processes with `--detach`. */
export function withWork(
  context: CliContext,
  { detach: isDetached = false, stream, yes = false }: WorkOptions,
  plan: (project: Project) => Promise<Work>,
): Promise<number> {
  return withProject(
    context,
    async (project) => {
      const { sessionId, resumed, begin } = await plan(project);
      if (isDetached) return accepted(context, sessionId, (await begin(uuid())).executionId);
      return driveSession(context, project, {
        sessionId,
        ...(resumed && { from: await logPosition(project, resumed) }),
        begin,
        // on a terminal text appears as it arrives; a pipe gets whole answers by default
        isStreamed: stream ?? context.io.stdout.isTTY,
        isApproving: yes,
      });
    },
    { isDetached },
  );
}

/** The work is stored; a process that serves these sessions does it. */
export function accepted(
  context: CliContext,
  sessionId: string,
  executionId: string | null,
): number {
  if (context.isJson)
    context.printJson({ type: 'accepted', session_id: sessionId, execution_id: executionId });
  else {
    context.print(sessionId);
    context.note(
      `Accepted. A running \`onward dev\`, \`serve\` or \`worker\` continues it within seconds, else: ${context.command('recover')}`,
    );
    context.note(`View it with: ${context.command('explain', shortId(sessionId))}`);
  }
  return 0;
}
