import { pendingInputsIn } from '../agent/open-inputs.ts';
import { isoTime } from '../clock.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import { plainBody } from './row-writer.ts';
import { executionOver, sessionNotFound } from './session-errors.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { InputOptions } from './session-options.ts';
import type { SessionWorker } from './session-worker.ts';

/** Answers one question of a tool. Returns the id of its execution. */
export async function answerInput(
  lookup: SessionLookup,
  worker: SessionWorker,
  sessionId: string,
  inputId: string,
  { owner, by = owner, executionId, answer: given }: InputOptions,
): Promise<string | null> {
  for (let tries = 1; ; tries++) {
    const row = await lookup.workable(sessionId, owner);
    if (executionId !== undefined && executionId !== row.executionId)
      throw notAsked(sessionId, inputId, []);
    if (row.phase === 'idle') throw executionOver(sessionId, inputId, row.status);
    const { state } = await lookup.load(row);
    const pending = pendingInputsIn(state);
    const { checkedInput } = await import('../agent/read-inputs.ts');
    const answer = await checkedInput(pending, inputId, given);
    const at = isoTime(lookup.clock.now());
    const said = await lookup.store.decide(row.id, {
      executionId: row.executionId ?? '',
      callId: inputId,
      body: await plainBody(lookup.store, {
        answer,
        by,
        at,
        ...lookup.agentNamed(row.agent)?.trace(),
      }),
      at,
    });
    if (said === 'accepted') {
      await worker.wake(row);
      return row.executionId;
    }
    if (said === 'answered')
      throw new AgentError(
        'conflict',
        `Question ${show(inputId)} was answered before; each question is answered once.`,
        { details: { sessionId, inputId } },
      );
    if (said === 'over') {
      const now = await lookup.owned(sessionId, owner);
      throw executionOver(sessionId, inputId, now.status);
    }
    if (said === null) throw sessionNotFound(sessionId);
    // the question was read before its row was written
    if (tries >= 3)
      throw notAsked(
        sessionId,
        inputId,
        pending.map((one) => one.inputId),
      );
  }
}

const notAsked = (sessionId: string, inputId: string, pending: readonly string[]): AgentError =>
  new AgentError(
    'unknown_input',
    `No question ${show(inputId)} of session ${show(sessionId)} waits for an answer. Waiting: ${pending.join(', ') || 'none'}.`,
    { details: { sessionId, inputId, pending } },
  );
