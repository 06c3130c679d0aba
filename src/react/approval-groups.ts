import { sameJson, type JsonObject, type JsonValue } from '../json.ts';
import type { UiApproval } from '../ui/ui-state.ts';
import { isComplete } from './argument-list.tsx';

/** Number of calls of one tool from which they share a table. */
const TABLE_FROM = 3;
/** Most columns of a table: further arguments are in the editor of each call. */
const MAX_COLUMNS = 4;

/** Calls that are shown together: several of one tool, or a single one. */
export interface ApprovalGroup {
  readonly tool: string;
  readonly approvals: readonly UiApproval[];
}

/** Groups calls: three or more of one tool with all their arguments share a table, each other has a card. */
export function approvalGroups(approvals: readonly UiApproval[]): readonly ApprovalGroup[] {
  const byTool = new Map<string, UiApproval[]>();
  for (const approval of approvals) {
    if (!isComplete(approval.args)) continue;
    byTool.set(approval.tool, [...(byTool.get(approval.tool) ?? []), approval]);
  }
  const groups: ApprovalGroup[] = [];
  for (const approval of approvals) {
    const { tool } = approval;
    const alike = isComplete(approval.args) ? (byTool.get(tool) ?? []) : [];
    if (alike.length < TABLE_FROM) groups.push({ tool, approvals: [approval] });
    else if (alike[0] === approval) groups.push({ tool, approvals: alike });
  }
  return groups;
}

/** Arguments of several calls: names of those that differ, and those that are the same for all. */
export interface ArgumentColumns {
  readonly columns: readonly string[];
  /** Number of differing arguments without a column. */
  readonly more: number;
  readonly same: readonly (readonly [name: string, value: JsonValue])[];
}

export function argumentColumns(approvals: readonly UiApproval[]): ArgumentColumns {
  const all = approvals.map(({ args }) => args as JsonObject); // a group has complete arguments
  const [first = {}] = all;
  const names = [...new Set(all.flatMap((args) => Object.keys(args)))];
  const isSame = (name: string): boolean =>
    all.every((args) => Object.hasOwn(args, name) && sameJson(args[name], first[name]));
  const differing = names.filter((name) => !isSame(name));
  return {
    columns: differing.slice(0, MAX_COLUMNS),
    more: Math.max(0, differing.length - MAX_COLUMNS),
    same: names.filter(isSame).map((name) => [name, first[name] ?? null]),
  };
}
