import { Message, type MessageJSON } from '../messages/message.ts';
import type { Messages } from '../messages/messages.ts';
import { ROWS_AT_ONCE, type RowReader } from './row-reader.ts';
import type { Placement, StoredCompaction } from './state-rows.ts';
import type { Compaction } from '../agent/compaction.ts';

/** Most summaries that are searched for a result. */
const MOST_SUMMARIES = 1_000;

/** Adds when it was made, and where the store has the tool results that a summary covers, to find them by id. */
export function storedCompaction(
  compaction: Compaction,
  messages: Messages,
  { messages: offset, leading }: Placement,
): StoredCompaction {
  const made = { ...compaction, messageCount: messages.length + offset };
  if (made.kind !== 'summary') return made;
  const from = Math.max(leading, compaction.fromPosition - offset);
  const covered = messages.slice(from, compaction.toPosition - offset);
  const results = covered.flatMap((message, i) =>
    message.isTool() ? [`${message.id} ${from + i + offset}`] : [],
  );
  return results.length === 0 ? made : { ...made, results: results.join('\n') };
}

/** Finds the result of a tool that a summary covers; null if no summary of this agent's conversation covers it. */
export async function findEarlierResult(
  reader: RowReader,
  given: {
    readonly sessionId: string;
    readonly agentId: string;
    readonly messageId: string;
  },
): Promise<Message | null> {
  const { sessionId, agentId, messageId } = given;
  const position = await positionOf(reader, given);
  if (position === null) return null;
  const range = { from: position, before: position + 1 };
  const rows = await reader.store.messages(sessionId, agentId, range);
  const [json] = await reader.values<MessageJSON>(rows);
  return json?.id === messageId && json.role === 'tool' ? Message.from(json) : null;
}

async function positionOf(
  reader: RowReader,
  { sessionId, agentId, messageId }: Parameters<typeof findEarlierResult>[1],
): Promise<number | null> {
  const start = `${messageId} `;
  let before = Number.MAX_SAFE_INTEGER;
  let limit: number = ROWS_AT_ONCE.first;
  for (let read = 0; read < MOST_SUMMARIES; limit = ROWS_AT_ONCE.next) {
    const range = { kind: 'summary', before, limit } as const;
    const rows = await reader.store.compactions(sessionId, agentId, range);
    for (const { results } of (
      await reader.values<StoredCompaction>(rows, 'results')
    ).toReversed()) {
      const line = results?.split('\n').find((each) => each.startsWith(start));
      if (line !== undefined) return Number(line.slice(start.length));
    }
    if (rows.length < limit) return null;
    read += rows.length;
    before = rows[0]?.position ?? 0;
  }
  return null;
}
