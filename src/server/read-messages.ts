import type { AgentStepJSON } from '../agent/agent-state.ts';
import type { MessageJSON } from '../messages/message.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { UiMessage } from '../ui/ui-message.ts';
import { uiMessagesOf } from '../ui/ui-messages-of.ts';

export interface MessagesQuery {
  readonly before?: number;
  readonly limit?: number;
}

/** Messages as a screen shows them, oldest first. */
export interface MessagePage {
  readonly messages: readonly UiMessage[];
  /** For the page before this one; null on the first. */
  readonly before: number | null;
}

/** Pages of steps for one page of messages: results whose step is not found have no duration. */
const MOST_PAGES = 5;

/** One page of the conversation as a screen shows it, with durations and errors of the tools. */
export async function readUiMessages(
  runtime: SessionRuntime,
  sessionId: string,
  options: MessagesQuery & { readonly owner: string },
): Promise<MessagePage> {
  const { owner, before } = options;
  const { items, before: earlier } = await runtime.messages(sessionId, options);
  const hasTools = items.some(({ role }) => role === 'tool');
  const read: StepRead = (range) => runtime.steps(sessionId, { owner, ...range });
  const steps = hasTools ? await stepsOf(read, items, before !== undefined) : [];
  return { messages: uiMessagesOf(items, { steps }), before: earlier };
}

type StepRead = (range: {
  readonly before?: number;
  readonly limit: number;
}) => Promise<{ readonly items: readonly AgentStepJSON[]; readonly before: number | null }>;

/** The steps that made these messages, newest first. */
async function stepsOf(
  read: StepRead,
  messages: readonly MessageJSON[],
  isOlderPage: boolean,
): Promise<readonly AgentStepJSON[]> {
  const missing = new Set(messages.flatMap(({ id, role }) => (role === 'tool' ? [id] : [])));
  const last = messages.at(-1)?.createdAt ?? '';
  const limit = messages.filter(({ role }) => role === 'assistant').length + 10;
  const found: AgentStepJSON[] = [];
  let before: number | null | undefined = isOlderPage ? await placeAt(read, last) : undefined;
  for (let pages = 0; pages < MOST_PAGES && missing.size > 0 && before !== null; pages += 1) {
    const page = await read({ limit, ...(before !== undefined && { before }) });
    found.push(...page.items);
    for (const { messageIds } of page.items) for (const id of messageIds) missing.delete(id);
    ({ before } = page);
  }
  return found;
}

/** Steps are in the order of time: the place behind those that began before it, found by halves. */
async function placeAt(read: StepRead, at: string): Promise<number> {
  const newest = await read({ limit: 1 });
  let low = 0;
  let high = (newest.before ?? 0) + newest.items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const [step] = (await read({ before: middle + 1, limit: 1 })).items;
    if (step && step.startedAt > at) high = middle;
    else low = middle + 1;
  }
  return low;
}
