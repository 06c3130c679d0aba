import type { CliContext } from '../cli-context.ts';
import { findSession } from '../find-session.ts';
import type { Project } from '../project.ts';
import { usageError } from '../usage-error.ts';
import { withWork, type WorkOptions } from '../with-work.ts';

export interface RunOptions extends WorkOptions {
  readonly agent?: string;
  readonly session?: string;
}

/** Sends a message in a new session, or in one that is there, and prints the answer. */
export async function run(
  context: CliContext,
  message: string | undefined,
  options: RunOptions,
): Promise<number> {
  const content = await textOf(context, message);
  if (options.session !== undefined && options.agent !== undefined)
    throw usageError('A session keeps its agent. Use either --session or --agent.');
  return withWork(context, options, async (project) => {
    const { runtime, owner } = project;
    noteModel(context, project);
    const sessionId = await sessionFor(project, options);
    return {
      sessionId,
      begin: (executionId) => runtime.send(sessionId, content, { owner, executionId }),
    };
  });
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
    throw usageError(`There is no agent "${agent}". --agent accepts one of: ${names.join(', ')}.`);
  return (await runtime.create({ owner, ...(name !== undefined && { agent: name }) })).id;
}

/** Notes which model answers, if it is the demo's. */
function noteModel({ note, paintNote, isJson }: CliContext, project: Project): void {
  if (isJson || !project.isDemo) return;
  const [entry] = project.agents;
  const why = project.modelNote === null ? '' : `: ${project.modelNote}`;
  note(paintNote('dim', `${entry?.title ?? 'Demo'} · ${entry?.model ?? 'demo model'}${why}`));
}
