import type { AgentState } from '../agent/agent-state.ts';
import type { Redactor } from '../errors/redactor.ts';
import { uuid } from '../ids.ts';
import { plainBody } from './row-writer.ts';
import type { NewSessionRow, SessionStore } from './session-store.ts';
import { titleOf } from './session-title.ts';
import { headState, wholeConversation, type Head } from './state-rows.ts';

/** Stores a session that nobody has worked on. False if the id is taken. */
export async function storeNewSession(
  store: SessionStore,
  state: AgentState,
  session: Pick<NewSessionRow, 'id' | 'owner' | 'agent' | 'createdAt'>,
  redactor: Redactor,
): Promise<boolean> {
  const { messages } = state;
  const title = titleOf(messages, redactor);
  const head: Head = {
    version: 1,
    salt: uuid(),
    definition: null,
    ...(title !== undefined && { title }),
    ...(messages.length > 0 && { seed: messages.toJSON() }),
    state: headState(state, wholeConversation),
  };
  return store.create({
    ...session,
    status: 'pending',
    executionId: null,
    head: await plainBody(store, head),
    messageCount: 0,
    stepCount: 0,
  });
}
