import { AgentState } from '../agent/agent-state.ts';
import { isoTime } from '../clock.ts';
import { AgentError } from '../errors/agent-error.ts';
import { uuid } from '../ids.ts';
import { utf8Bytes, type JsonObject } from '../json.ts';
import { checkedOwner, checkedSessionId } from './check-names.ts';
import { plainBody } from './row-writer.ts';
import { idTaken } from './session-errors.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { CreateOptions } from './session-options.ts';
import type { NewSessionRow, SessionRow } from './session-rows.ts';
import { newRow, shownRow } from './stores/session-rules.ts';
import { titleOf } from './session-title.ts';
import { headState, wholeConversation, type StateHeader } from './state-rows.ts';

/** Stores a new session. Returns its row. */
export async function createSession(
  lookup: SessionLookup,
  options: CreateOptions,
): Promise<SessionRow> {
  const { store, clock } = lookup;
  const owner = checkedOwner(options.owner);
  const id = options.id === undefined ? uuid() : checkedSessionId(options.id);
  const { name: agent, redactor } = lookup.agentFor(options.agent);
  const now = clock.now();
  const state = firstState(options, agent, now);
  const { messages } = state;
  const title = titleOf(messages, redactor);
  const head: StateHeader = {
    version: 1,
    salt: uuid(),
    definition: null,
    ...(title !== undefined && { title }),
    ...(messages.length > 0 && { seed: messages.toJSON() }),
    state: headState(state, wholeConversation),
  };
  const row: NewSessionRow = {
    id,
    owner,
    agent,
    createdAt: isoTime(now),
    status: 'pending',
    executionId: null,
    head: await plainBody(store, head),
    messageCount: 0,
    stepCount: 0,
  };
  if (!(await store.create(row))) throw idTaken(id);
  return shownRow(newRow(row), false);
}

/** Largest metadata, in bytes of JSON. Limited because each page of a list reads it. */
const METADATA_BYTES = 65_536;

function checkedMetadata(metadata: JsonObject): JsonObject {
  const bytes = utf8Bytes(JSON.stringify(metadata) ?? '');
  if (bytes <= METADATA_BYTES) return metadata;
  throw new AgentError(
    'invalid_option',
    `metadata is ${bytes} bytes of JSON, expected at most ${METADATA_BYTES}. Keep large data in a store of your own ` +
      'and put its id into metadata.',
    { details: { option: 'metadata', bytes, maxBytes: METADATA_BYTES } },
  );
}

function firstState(options: CreateOptions, agent: string, now: number): AgentState {
  let state = AgentState.empty({ now }).withAgentName(agent);
  if (options.metadata) state = state.withMetadata(checkedMetadata(options.metadata));
  if (options.messages) state = state.withMessages(...options.messages);
  const problem = state.messages.pairingProblem();
  if (problem === null) return state;
  throw new AgentError(
    'invalid_message',
    `A session cannot begin with these messages: ${problem}.`,
  );
}
