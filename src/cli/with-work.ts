import { uuid } from '../ids.ts';
import type { Session } from '../sessions/session.ts';
import { withProject, type CliContext } from './cli-context.ts';
import { driveSession, logPlace } from './drive-session.ts';
import { shortId } from './format.ts';
import type { Project } from './project.ts';

/** Options of all commands that make a session work. */
export interface WorkOptions {
  readonly stream?: boolean;
  readonly detach?: boolean;
  readonly yes?: boolean;
}

interface Work {
  readonly sessionId: string;
  /** The session whose execution continues; left out where a new one begins. */
  readonly resumed?: Session;
  /** Asks for the work. */
  begin(executionId: string): Promise<{ readonly executionId: string | null }>;
}

/** Begins what `plan` has found to do and shows it until it rests, or leaves it to others with `--detach`. */
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
        ...(resumed && { from: await logPlace(project, resumed) }),
        begin,
        // on a terminal text comes as it is made; a pipe gets whole answers unless it wants the same
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
      `Accepted. A running \`onward dev\` takes it up within seconds, else: ${context.command('recover')}`,
    );
    context.note(`See it with: ${context.command('explain', shortId(sessionId))}`);
  }
  return 0;
}
