import { useEffect, useRef, useState } from 'react';
import type { UiMessage } from '../../ui/ui-message.ts';

/** Visible text that was discarded: the model call failed and starts again. */
export interface Discarded {
  readonly id: string;
  readonly text: string;
}

/** Milliseconds for which it stays, struck out. */
const shownMs = 1_600;

const streamed = (messages: readonly UiMessage[]): UiMessage | undefined =>
  messages.findLast(({ role, metadata }) => role === 'assistant' && metadata.streaming === true);

/** Returns the streamed text that was just discarded; null if there is none, or after its time. */
export function useDiscarded(messages: readonly UiMessage[], isLive: boolean): Discarded | null {
  const last = useRef<UiMessage | undefined>(undefined);
  const [discarded, setDiscarded] = useState<Discarded | null>(null);
  useEffect(() => {
    const before = last.current;
    last.current = streamed(messages);
    if (!before || before.content === '' || !isLive) return;
    const now = messages.findLast(({ id }) => id === before.id);
    // a finished message contains all that was streamed
    if (now ? now.content.startsWith(before.content.trimEnd()) || !now.metadata.streaming : false)
      return;
    setDiscarded({ id: before.id, text: before.content });
  }, [messages, isLive]);
  useEffect(() => {
    if (!discarded) return;
    const timer = setTimeout(() => setDiscarded(null), shownMs);
    return () => clearTimeout(timer);
  }, [discarded]);
  return isLive ? discarded : null;
}
