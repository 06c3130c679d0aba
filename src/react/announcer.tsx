import { useEffect, useRef, useState, type ReactElement } from 'react';
import { shouldRenderAssistantContent } from '../ui/message-rules.ts';
import type { UiState } from '../ui/ui-state.ts';
import { hidden } from './composer.tsx';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export type AnnouncerProps = Pick<UiState, 'messages' | 'status' | 'approvals' | 'inputs' | 'stop'>;

const noInputs: NonNullable<UiState['inputs']> = [];

const isOpen = (status: UiState['status']): boolean =>
  status === 'processing' || status === 'paused';

/**
 * Announces what a sighted reader notices: a finished answer, an approval, a stop. Never announces single chunks or
 * existing content.
 */
export function Announcer(props: AnnouncerProps): ReactElement {
  const { messages, status, approvals, inputs = noInputs, stop } = props;
  const { labels } = useUi();
  const [news, setNews] = useState({ text: '', count: 0 });
  const announced = useRef<Set<string> | null>(null);
  const lastStatus = useRef(status);
  useEffect(() => {
    const isFirst = announced.current === null;
    const known = (announced.current ??= new Set());
    const isNew = (key: string): boolean => !known.has(key) && known.add(key).size > 0;
    const isWork = isOpen(status) || isOpen(lastStatus.current);
    lastStatus.current = status;
    const answers = messages.filter(
      (message) => message.role === 'assistant' && !message.metadata.streaming && isNew(message.id),
    );
    // a history that arrives late is not news: announce at most its last message
    const answer = isWork ? answers.findLast(shouldRenderAssistantContent) : undefined;
    const parts = answer ? [answer.content] : [];
    for (const { tool, tool_call_id: callId } of approvals)
      if (isNew(`approval ${callId}`)) parts.push(labels.approvalTitle(tool));
    for (const { tool, input_id: inputId, message } of inputs)
      if (isNew(`input ${inputId}`)) parts.push(`${labels.inputTitle(tool)}: ${message}`);
    if (stop && isNew(`stop ${stop.timestamp}`) && isWork && stop.status !== 'completed')
      parts.push(stop.stop_message);
    if (parts.length > 0 && !isFirst)
      setNews(({ count }) => ({ text: parts.join('\n'), count: count + 1 }));
  }, [messages, status, approvals, inputs, stop, labels]);
  return (
    <div {...part('announcer')} role="status" aria-live="polite" style={hidden}>
      {/* a new element each time: the same text twice is announced twice */}
      <span key={news.count}>{news.text}</span>
    </div>
  );
}
