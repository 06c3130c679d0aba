import { isoTime } from '../clock.ts';
import { AgentError } from '../errors/agent-error.ts';
import { canonicalJson } from '../json.ts';
import { sha256 } from '../sha256.ts';
import type { AnyTool } from '../tools/tool.ts';
import type { AgentState } from './agent-state.ts';
import type { GivenAnswer } from './approval-answer.ts';
import type { Run } from './run.ts';

/** A remembered approval: calls of this tool of this agent run without a new answer, in this session. */
export interface ApprovalRule {
  /** Name of the root agent; then, for each nested agent, the tool behind which it is, and its name. */
  readonly agentPath: readonly string[];
  readonly tool: string;
  /** Hash of name, description and schema of the tool. The rule lapses when they change. */
  readonly definitionHash: string;
  /** Who gave the answer that is remembered. */
  readonly by: string | null;
  readonly at: string;
}

/** Most rules of one session. */
export const MAX_RULES = 100;

export const noRules: readonly ApprovalRule[] = Object.freeze([]);

/** Returns the id of a rule, which names its agent and tool. */
export const ruleId = ({ agentPath, tool }: Pick<ApprovalRule, 'agentPath' | 'tool'>): string =>
  sha256(JSON.stringify([agentPath, tool])).slice(0, 32);

const definitionHash = ({ name, description, jsonSchema }: AnyTool): string =>
  sha256(canonicalJson([name, description, jsonSchema]));

const rootOf = (run: Run): Run => (run.parent === null ? run : rootOf(run.parent));

const pathOf = ({ parent, viaTool, agent }: Run): readonly string[] =>
  parent === null ? [agent.name] : [...pathOf(parent), viaTool, agent.name];

/** Returns the rule that approves calls of a tool; null if there is none, or a revoke waits to be applied. */
export async function ruleFor(run: Run, tool: AnyTool): Promise<ApprovalRule | null> {
  const root = rootOf(run);
  const { approvalRules } = root.state;
  if (approvalRules.length === 0) return null;
  const id = ruleId({ agentPath: pathOf(run), tool: tool.name });
  const rule = approvalRules.find((one) => ruleId(one) === id);
  if (rule === undefined || rule.definitionHash !== definitionHash(tool)) return null;
  return (await isRevoking(run)) ? null : rule;
}

/** Whether a revoke was accepted that the state does not have yet. Until it is applied, no rule counts. */
export const isRevoking = (run: Run): Promise<boolean> | boolean =>
  rootOf(run).journal?.isRevoking() ?? false;

/**
 * Adds the rule that an answer asks for. It replaces an earlier one for the same agent and tool. Returns false if the
 * session remembers the most already: answers that were given at the same time took the last places.
 */
export function remember(run: Run, tool: AnyTool, { by = null, at }: GivenAnswer): boolean {
  const root = rootOf(run);
  const rule: ApprovalRule = Object.freeze({
    agentPath: Object.freeze(pathOf(run)),
    tool: tool.name,
    definitionHash: definitionHash(tool),
    by,
    at: at ?? isoTime(run.now()),
  });
  const others = withoutRules(root.state.approvalRules, [ruleId(rule)]);
  if (others.length >= MAX_RULES) return false;
  root.state = root.state.with({ approvalRules: Object.freeze([...others, rule]) });
  return true;
}

export const withoutRules = (
  rules: readonly ApprovalRule[],
  ids: readonly string[],
): readonly ApprovalRule[] => rules.filter((rule) => !ids.includes(ruleId(rule)));

/** Rejects answers that would add more rules than a session may have. `asked` are ids of rules by call id. */
export function checkRuleCapacity(
  { approvalRules }: AgentState,
  asked: ReadonlyMap<string, string>,
): void {
  if (asked.size === 0) return;
  const known = new Set(approvalRules.map(ruleId));
  const added = new Set([...asked.values()].filter((id) => !known.has(id)));
  if (known.size + added.size <= MAX_RULES) return;
  const [callId] = asked.keys();
  const left = MAX_RULES - known.size;
  throw new AgentError(
    'invalid_approval',
    `A session remembers at most ${MAX_RULES} approvals. This one remembers ${known.size}, so ` +
      (added.size === 1
        ? `the answer for ${callId} cannot be remembered. `
        : `only ${left} of these ${added.size} can be remembered. `) +
      'Nothing was run. Revoke one, or approve without remember.',
    { details: { callId, remembered: known.size, asked: added.size, limit: MAX_RULES } },
  );
}
