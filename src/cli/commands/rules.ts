import type { SessionRule } from '../../sessions/approval-rules.ts';
import { withProject, type CliContext } from '../cli-context.ts';
import { findSession } from '../find-session.ts';
import { oneLine, shortId } from '../format.ts';
import { usageError } from '../usage-error.ts';

export interface RulesOptions {
  readonly revoke?: string;
}

/** Lists the remembered approvals of a session, after revoking one. */
export async function rules(
  context: CliContext,
  said: string,
  { revoke }: RulesOptions,
): Promise<number> {
  return withProject(context, async (project) => {
    const { runtime, owner } = project;
    const { id } = await findSession(project, said);
    let left = await runtime.rules(id, { owner });
    if (revoke !== undefined) {
      const [rule, ...others] = left.filter((one) => one.id.startsWith(revoke));
      if (!rule || others.length > 0)
        throw usageError(
          `${rule ? 'Several rules start' : 'No rule starts'} with ${revoke}. Remembered: ${
            left.map(lineOf).join('; ') || 'none'
          }`,
        );
      await runtime.revokeRule(id, rule.id, { owner });
      left = await runtime.rules(id, { owner });
    }
    if (context.isJson) context.printJson({ type: 'rules', session_id: id, rules: [...left] });
    else if (left.length === 0) context.note(`Session ${shortId(id)} remembers no approvals.`);
    else for (const rule of left) context.print(lineOf(rule));
    return 0;
  });
}

const lineOf = ({ id, tool, agentPath, by, at }: SessionRule): string =>
  oneLine(
    `${id.slice(0, 8)} ${tool} of ${agentPath.join(' › ')}, approved${by === null ? '' : ` by ${by}`} on ${at.slice(0, 10)}`,
    300,
  );
