import { useEffect, useRef, useState } from 'react';
import type { UiMessage } from '../../ui/ui-message.ts';

/** Text that was on the screen and does not count: the model failed in the middle and begins anew. */
export interface Discarded {
  readonly id: string;
  readonly text: string;
}

/** How long it stays, struck out. */
const shownMs = 1_600;

const streamed = (messages: readonly UiMessage[]): UiMessage | undefined =>
  messages.findLast(({ role, metadata }) => role === 'assistant' && metadata.streaming === true);

/** The live text that has just been thrown away; null when there is none, or when it has been seen. */
export function useDiscarded(messages: readonly UiMessage[], isLive: boolean): Discarded | null {
  const last = useRef<UiMessage | undefined>(undefined);
  const [discarded, setDiscarded] = useState<Discarded | null>(null);
  useEffect(() => {
    const before = last.current;
    last.current = streamed(messages);
    if (!before || before.content === '' || !isLive) return;
    const now = messages.findLast(({ id }) => id === before.id);
    // a finished message says all that was streamed
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
