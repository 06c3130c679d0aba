import { MAX_RULES, ruleId, withoutRules, type ApprovalRule } from '../agent/approval-rules.ts';
import { isoTime } from '../clock.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import { changedMeanwhile, sessionNotFound } from './session-errors.ts';
import { RowReader } from './row-reader.ts';
import { plainBody } from './row-writer.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { OwnerOptions } from './session-options.ts';
import { revokedBy, type CommandBody } from './session-task.ts';
import type { SessionRow } from './session-rows.ts';
import type { SessionWorker } from './session-worker.ts';
import { GRANT_LOG_REQUIRES } from './state-rows.ts';

/** A remembered approval with the id that revokes it. */
export interface SessionRule extends ApprovalRule {
  readonly id: string;
}

/** Returns the remembered approvals of a session, without the one that is being revoked. */
export async function readRules(
  lookup: SessionLookup,
  sessionId: string,
  { owner }: OwnerOptions,
): Promise<readonly SessionRule[]> {
  return rulesOf(lookup, await lookup.owned(sessionId, owner));
}

async function rulesOf(lookup: SessionLookup, row: SessionRow): Promise<readonly SessionRule[]> {
  const reader = new RowReader(lookup.store, row);
  const { state } = await reader.head(row.head);
  const revoked = (await revokedBy(reader, row.id)) ?? [];
  return withoutRules(state.approvalRules ?? [], revoked).map((rule) => ({
    id: ruleId(rule),
    ...rule,
  }));
}

/** Bytes that waiting revokes may have, beside those of messages. */
const MAX_REVOKE_BYTES = 1_000_000;

/**
 * Revokes a remembered approval. A running worker asks the store before each call that a rule approves; from now on, no
 * such call starts.
 */
export async function revokeRule(
  lookup: SessionLookup,
  worker: SessionWorker,
  sessionId: string,
  ruleToRevoke: string,
  { owner }: OwnerOptions,
): Promise<void> {
  const row = await lookup.changeable(sessionId, owner);
  const known = await rulesOf(lookup, row);
  if (!known.some(({ id }) => id === ruleToRevoke))
    throw new AgentError(
      'unknown_approval',
      `Session "${sessionId}" remembers no approval ${show(ruleToRevoke)}. Remembered: ${
        known.map(({ id, tool }) => `${id} (${tool})`).join(', ') || 'none'
      }.`,
      { details: { sessionId, rule: ruleToRevoke } },
    );
  const { commands, bytes } = lookup.maxWaiting;
  const body = await plainBody(lookup.store, { revoke: [ruleToRevoke] } satisfies CommandBody);
  const said = await lookup.store.accept(
    row.id,
    {
      kind: 'resume',
      executionId: row.executionId ?? '',
      body,
      at: isoTime(lookup.clock.now()),
      // an earlier release would take it for a request to continue
      requires: GRANT_LOG_REQUIRES,
    },
    // full of messages or not, there is capacity to revoke each rule
    {
      phases: ['idle', 'open', 'paused', 'parked'],
      maxWaiting: { commands: commands + 2 * MAX_RULES, bytes: bytes + MAX_REVOKE_BYTES },
    },
  );
  if (said === null) throw sessionNotFound(sessionId);
  if (!said.accepted) throw changedMeanwhile(sessionId);
  await worker.wake(row);
}
