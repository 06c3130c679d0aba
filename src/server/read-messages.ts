import type { AgentStepJSON } from '../agent/agent-state.ts';
import type { MessageJSON } from '../messages/message.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { UiMessage } from '../ui/ui-message.ts';
import { toUiMessages } from '../ui/to-ui-messages.ts';

export interface MessagesQuery {
  readonly before?: number;
  readonly limit?: number;
}

/** UI messages, oldest first. */
export interface MessagePage {
  readonly messages: readonly UiMessage[];
  /** Cursor of the page before this one; null on the first. */
  readonly before: number | null;
}

/** Maximum pages of steps for one page of messages; results of missing steps have no duration. */
const MAX_PAGES = 5;

/** Reads one page of the conversation as UI messages, with durations and errors of the tools. */
export async function readUiMessages(
  runtime: SessionRuntime,
  sessionId: string,
  options: MessagesQuery & { readonly owner: string; readonly includeReasoning?: boolean },
): Promise<MessagePage> {
  const { owner, before, includeReasoning = false } = options;
  const { items, before: earlier } = await runtime.messages(sessionId, options);
  const hasTools = items.some(({ role }) => role === 'tool');
  const read: StepRead = (range) => runtime.steps(sessionId, { owner, ...range });
  const steps = hasTools ? await stepsOf(read, items, before) : [];
  return { messages: toUiMessages(items, { steps, includeReasoning }), before: earlier };
}

type StepRead = (range: {
  readonly before?: number;
  readonly beforeMessage?: number;
  readonly limit: number;
}) => Promise<{ readonly items: readonly AgentStepJSON[]; readonly before: number | null }>;

/** Reads the steps that made these messages: those before a position, newest first. */
async function stepsOf(
  read: StepRead,
  messages: readonly MessageJSON[],
  beforeMessage: number | undefined,
): Promise<readonly AgentStepJSON[]> {
  const missing = new Set(messages.flatMap(({ id, role }) => (role === 'tool' ? [id] : [])));
  const limit = messages.filter(({ role }) => role === 'assistant').length + 10;
  const found: AgentStepJSON[] = [];
  let range: { readonly before?: number; readonly beforeMessage?: number } =
    beforeMessage === undefined ? {} : { beforeMessage };
  for (let pages = 0; pages < MAX_PAGES && missing.size > 0; pages += 1) {
    const page = await read({ limit, ...range });
    found.push(...page.items);
    for (const { messageIds } of page.items) for (const id of messageIds) missing.delete(id);
    if (page.before === null) break;
    range = { before: page.before };
  }
  return found;
}
