import { grantKinds, type GrantKind, type Grants } from '../../continuation/grants.ts';
import { AgentError } from '../../errors/agent-error.ts';
import type { Session } from '../../sessions/session.ts';
import { stopSentenceOf } from '../../trace/index.ts';
import type { CliContext } from '../cli-context.ts';
import { findSession } from '../find-session.ts';
import { shortId } from '../format.ts';
import { nextCommands } from '../next-commands.ts';
import { stopLine } from '../run-ending.ts';
import { usageError } from '../usage-error.ts';
import { withWork, type WorkOptions } from '../with-work.ts';

export interface ResumeOptions extends WorkOptions {
  readonly grant?: string;
}

/** Continues a paused session, or a stopped one with a grant. */
export async function resume(
  context: CliContext,
  said: string,
  options: ResumeOptions,
): Promise<number> {
  const grant = options.grant === undefined ? undefined : grantFrom(options.grant);
  return withWork(context, options, async (project) => {
    const { runtime, owner } = project;
    const session = await findSession(project, said);
    const begin = () =>
      runtime
        .resume(session.id, { owner, ...(grant && { grant }) })
        .catch((error: unknown) => Promise.reject(refusal(context, session, error)));
    return { sessionId: session.id, resumed: session, begin };
  });
}

/** Explains why the session cannot continue, and what to type instead. */
function refusal(context: CliContext, session: Session, error: unknown): unknown {
  const stop = stopSentenceOf(session);
  if (!AgentError.is(error, 'not_resumable') || stop === null) return error;
  const next = nextCommands(context, session, stop).map((line) => `\n  ${line}`);
  const id = shortId(session.id);
  const other = next.length > 0 ? '' : `\n  ${context.command('run', "'…'", '--session', id)}`;
  return new AgentError(
    'not_resumable',
    `Session ${id} cannot continue with that. ${stopLine(stop)}${next.join('')}${other}`,
    { cause: error, details: error.details },
  );
}

const expected = `Expected amounts such as steps=5 or tokens=20000,cost=0.5, with ${grantKinds.join(', ')}.`;

/** Parses `steps=5,tokens=2000`. */
function grantFrom(text: string): Grants {
  const grant: Partial<Record<GrantKind, number>> = {};
  for (const part of text.split(',')) {
    const [, kind = '', amount = ''] = /^\s*([a-z]+)\s*=\s*(\d+(?:\.\d+)?)\s*$/.exec(part) ?? [];
    const known = grantKinds.find((name) => name === kind);
    const value = Number(amount);
    if (known === undefined || !(value > 0)) throw usageError(`--grant got "${part}". ${expected}`);
    if (grant[known] !== undefined) throw usageError(`--grant has ${kind} twice. ${expected}`);
    grant[known] = value;
  }
  return grant;
}
