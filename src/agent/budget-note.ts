import { isoTime } from '../clock.ts';
import { Message } from '../messages/message.ts';
import { Messages } from '../messages/messages.ts';
import type { Run } from './run.ts';

/**
 * Adds the budget used so far behind the last message, with the numbers that the limits use. Prompt and messages stay as
 * they are, so that a prompt cache covers them. The conversation never gets the note.
 */
export function withBudgetNote(run: Run, messages: Messages): Messages {
  const now = run.now();
  const spent = run.agent.criteria.budget(run.state, now, run.deps);
  if (spent.length === 0) return messages;
  const note = Message.trusted({
    role: 'user',
    content: `Budget used so far: ${spent.join('; ')}. Plan your work so that you finish within it.`,
    // cache marks go before it
    metadata: { synthetic: true, passing: true },
    createdAt: isoTime(now),
  });
  // a list of its own, because the next step continues the other one
  return Messages.from([...messages, note]);
}
