import type { ApprovalRecord } from '../tools/tool-result.ts';
import { visibleText } from '../visible-text.ts';

const words: Readonly<Record<ApprovalRecord['decision'], string>> = {
  approved: 'approved',
  edited: 'approved with changes',
  denied: 'denied',
};

/** Describes the answer of an approver: "approved by ann on 2026-11-17 at 19:05 UTC". */
export function answerText({
  decision,
  by,
  at,
  rememberedAt,
  notRemembered,
}: ApprovalRecord): string {
  const who = by === null ? '' : ` by ${visibleText(by)}`;
  if (rememberedAt !== undefined)
    return `approved as remembered${who} on ${dayAndTime(rememberedAt)}`;
  const lost = notRemembered
    ? ', not remembered because the session remembers the most approvals that it may'
    : '';
  return `${words[decision]}${who} on ${dayAndTime(at)}${lost}`;
}

const dayAndTime = (at: string): string => `${at.slice(0, 10)} at ${at.slice(11, 16)} UTC`;
