import type { AgentStepJSON } from '../agent/agent-state.ts';
import type { ApprovalRecord } from '../tools/tool-result.ts';
import { retriesIn, type Retries } from '../trace/tool-retries.ts';
import type { UiMessage, UiMetadata, UiToolApproval } from '../ui/ui-message.ts';

/** Marks rows with their step and execution, and results with their approval and retry, from the record. */
export function withRecordMarks(
  rows: readonly UiMessage[],
  steps: readonly AgentStepJSON[],
): readonly UiMessage[] {
  // call ids are unique only within an execution
  const byExecution = new Map<string, AgentStepJSON[]>();
  for (const step of steps)
    byExecution.set(step.executionId, [...(byExecution.get(step.executionId) ?? []), step]);
  const retries = new Map<string, Retries>();
  for (const [id, own] of byExecution) retries.set(id, retriesIn(own));
  const stepOf = new Map(steps.flatMap((step) => step.messageIds.map((id) => [id, step] as const)));
  return rows.map((row) => {
    const step = stepOf.get(row.id);
    if (!step) return row;
    const { number, executionId: execution_id } = step;
    const metadata: UiMetadata = { ...row.metadata, step: number, execution_id };
    const { tool_call_id: callId } = metadata;
    if (row.role !== 'tool' || callId === undefined) return { ...row, metadata };
    const approval = step.results.find((result) => result.callId === callId)?.approval;
    const retry = retries.get(execution_id)?.get(callId);
    return {
      ...row,
      metadata: {
        ...metadata,
        ...(approval && { tool_approval: approvalOf(approval) }),
        ...(retry && { tool_retry: retry }),
      },
    };
  });
}

const approvalOf = ({ decision, by, at, rememberedAt }: ApprovalRecord): UiToolApproval => ({
  decision,
  by,
  at,
  ...(rememberedAt !== undefined && { remembered: true }),
});
