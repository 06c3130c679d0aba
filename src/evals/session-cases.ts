import type { AgentStepJSON } from '../agent/agent-state.ts';
import { forbidOrder } from '../continuation/stop-reason.ts';
import { whole } from '../errors/agent-error.ts';
import { textOf } from '../messages/content-part.ts';
import type { MessageJSON } from '../messages/message.ts';
import type { SessionExport } from '../exports/index.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { JsonValue } from '../json.ts';
import type { EvalCase, EvalExpectation } from './eval-case.ts';

export interface SessionCasesOptions {
  readonly owner: string;
  /** Sessions to read. Default: the last changed ones of the owner. */
  readonly ids?: readonly string[];
  /** Only sessions of this agent. */
  readonly agent?: string;
  /** Most sessions. Default 100. */
  readonly limit?: number;
}

/** Messages and steps of the first execution that are read. */
const READ = 500;

/**
 * Reads recorded sessions as cases: the first message of the user in, its recorded answer, tool calls and stop reason as
 * expectation. Secrets are redacted. Leaves out sessions whose first execution is open, pruned or longer than 500 steps.
 */
export async function casesFromSessions(
  runtime: SessionRuntime,
  options: SessionCasesOptions,
): Promise<readonly EvalCase[]> {
  const { owner } = options;
  const cases: EvalCase[] = [];
  for (const id of await idsOf(runtime, options)) {
    const found = await caseOf(runtime, id, owner);
    if (found) cases.push(found);
  }
  return cases;
}

async function idsOf(
  runtime: SessionRuntime,
  { owner, ids, agent, limit = 100 }: SessionCasesOptions,
): Promise<readonly string[]> {
  whole('casesFromSessions limit', limit);
  if (ids) return ids.slice(0, limit);
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await runtime.list({
      owner,
      limit: Math.min(100, limit - found.length),
      ...(cursor !== null && { cursor }),
      ...(agent !== undefined && { agent }),
    });
    found.push(...page.sessions.map(({ id }) => id));
    ({ cursor } = page);
  } while (cursor !== null && found.length < limit);
  return found;
}

async function caseOf(
  runtime: SessionRuntime,
  id: string,
  owner: string,
): Promise<EvalCase | null> {
  const session = await runtime.get(id, { owner });
  const [messages, steps] = await Promise.all([
    beginning<MessageJSON>(session.messageCount, (page) =>
      runtime.messages(id, { owner, ...page }),
    ),
    beginning<AgentStepJSON>(session.stepCount, (page) => runtime.steps(id, { owner, ...page })),
  ]);
  const { executionId, title, output } = session;
  return caseOfRecords({ id, title, messages, steps, executionId, output });
}

/** Reads an exported session as a case, like `casesFromSessions`. Null if its first execution is open or pruned. */
export function caseFromExport({
  session,
  state,
  messages,
  steps,
}: SessionExport): EvalCase | null {
  const { id, title, executionId } = session;
  return caseOfRecords({
    id,
    title,
    executionId,
    output: state.output,
    messages: messages.flatMap(({ agentId, message }) => (agentId === '' ? [message] : [])),
    steps: steps.flatMap(({ agentId, step }) => (agentId === '' ? [step] : [])),
  });
}

/** What a case is made of: the records of a session's own agent, oldest first. */
interface SessionRecords {
  readonly id: string;
  readonly title: string | null;
  readonly messages: readonly MessageJSON[];
  readonly steps: readonly AgentStepJSON[];
  /** The newest execution, and its output. */
  readonly executionId: string | null;
  readonly output: unknown;
}

function caseOfRecords(session: SessionRecords): EvalCase | null {
  const { id, title, messages, steps } = session;
  const executionId = steps[0]?.executionId;
  const own = steps.filter((step) => step.executionId === executionId);
  const question = messages.find(({ role }) => role === 'user');
  const last = own.at(-1);
  const stopReason = last?.outcome?.stopReason;
  if (!question || !last || steps[0]?.number !== 1 || !stopReason) return null;
  const written = new Set(own.flatMap(({ messageIds }) => messageIds));
  const answer = messages.findLast(
    (message) => message.role === 'assistant' && written.has(message.id),
  );
  // the value of a response format is stored for the newest execution only
  const isNewest = session.executionId === executionId && typeof session.output === 'object';
  const output =
    isNewest && session.output !== null ? session.output : textOf(answer?.content ?? '');
  const expected: EvalExpectation = {
    output: output as JsonValue, // as stored
    calls: own.flatMap(({ toolCalls }) =>
      toolCalls.map(({ name, args }) => ({ tool: name, args })),
    ),
    ...(forbidOrder.includes(stopReason) && { stopReason }),
  };
  return {
    name: id,
    input: question.content,
    expected,
    metadata: { sessionId: id, executionId: executionId ?? '', title },
  };
}

/** Reads the first items of a history, oldest first; pages end early if their items are large. */
async function beginning<T>(
  count: number,
  read: (page: { readonly before: number; readonly limit: number }) => Promise<{
    readonly items: readonly T[];
    readonly before: number | null;
  }>,
): Promise<readonly T[]> {
  const items: T[] = [];
  let before: number | null = Math.min(count, READ);
  while (before !== null && before > 0) {
    const page: { readonly items: readonly T[]; readonly before: number | null } = await read({
      before,
      limit: before,
    });
    if (page.items.length === 0) break;
    items.unshift(...page.items);
    ({ before } = page);
  }
  return items;
}
