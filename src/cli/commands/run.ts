import { withProject, type CliContext } from '../cli-context.ts';
import { driveSession } from '../drive-session.ts';
import { findSession } from '../find-session.ts';
import { shortId } from '../format.ts';
import type { Project } from '../project.ts';
import { usageError } from '../usage-error.ts';

export interface RunOptions {
  readonly agent?: string;
  readonly session?: string;
  readonly yes?: boolean;
  readonly stream?: boolean;
  readonly detach?: boolean;
}

/** Sends a message in a new session, or in one that is there, and shows what comes of it. */
export async function run(
  context: CliContext,
  message: string | undefined,
  options: RunOptions,
): Promise<number> {
  const content = await textOf(context, message);
  if (options.session !== undefined && options.agent !== undefined)
    throw usageError('A session keeps its agent: give either --session or --agent.');
  const isDetached = options.detach === true;
  return withProject(
    context,
    async (project) => {
      const { runtime, owner } = project;
      noteModel(context, project);
      const sessionId = await sessionFor(project, options);
      if (isDetached) {
        const { executionId } = await runtime.send(sessionId, content, { owner });
        return accepted(context, sessionId, executionId);
      }
      return driveSession(context, project, {
        sessionId,
        begin: (executionId) => runtime.send(sessionId, content, { owner, executionId }),
        isStreamed: isStreamed(context, options),
        isApproving: options.yes === true,
      });
    },
    { isDetached },
  );
}

/** On a terminal text comes as it is made; a pipe gets whole answers unless it wants the same. */
export const isStreamed = ({ io }: CliContext, { stream }: Pick<RunOptions, 'stream'>): boolean =>
  stream ?? io.stdout.isTTY;

/** The work was written down; whoever serves these sessions takes it up. */
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

async function textOf({ io, command }: CliContext, message: string | undefined): Promise<string> {
  const text = message === undefined || message === '-' ? await io.readInput() : message;
  if (text !== null && text.trim() !== '') return text;
  throw usageError(
    `There is no message. Type one: ${command('run', '"…"')}, or pipe it in: echo "…" | ${command('run')}`,
  );
}

async function sessionFor(project: Project, { session, agent }: RunOptions): Promise<string> {
  const { runtime, owner, agents } = project;
  if (session !== undefined) return (await findSession(project, session)).id;
  const names = agents.map((entry) => entry.agent.name);
  const name = agent ?? names[0];
  if (agent !== undefined && !names.includes(agent))
    throw usageError(`There is no agent "${agent}". --agent takes one of: ${names.join(', ')}.`);
  return (await runtime.create({ owner, ...(name !== undefined && { agent: name }) })).id;
}

/** Who answers, if it is not the user's own agent. */
function noteModel({ note, paintNote, isJson }: CliContext, project: Project): void {
  if (isJson || !project.isDemo) return;
  const [entry] = project.agents;
  const why = project.modelNote === null ? '' : `: ${project.modelNote}`;
  note(paintNote('dim', `${entry?.title ?? 'Demo'} · ${entry?.model ?? 'demo model'}${why}`));
}
