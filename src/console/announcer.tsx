import { useEffect, useRef, useState, type ReactElement } from 'react';

export interface AnnouncerProps {
  /** Of which page; what is true when it is opened is read there and not announced. */
  readonly about: string;
  /** Null before it is known. */
  readonly status: string | null;
  /** Tools that wait for an answer. */
  readonly approvals: readonly string[];
  readonly stop: string | null;
}

/** For those who listen: changes of status, questions, and why it stopped. Never chunks, never timers. */
export function Announcer({ about, status, approvals, stop }: AnnouncerProps): ReactElement {
  const [news, setNews] = useState({ text: '', count: 0 });
  const told = useRef<AnnouncerProps | null>(null);
  const waiting = approvals.join();
  useEffect(() => {
    const before = told.current;
    told.current = { about, status, approvals: waiting === '' ? [] : waiting.split(','), stop };
    if (!before || before.about !== about || before.status === null) return;
    const asked = told.current.approvals.filter((tool) => !before.approvals.includes(tool));
    const parts = [
      status !== null && status !== before.status ? `${status}.` : null,
      ...asked.map((tool) => `${tool} needs your approval.`),
      stop !== null && stop !== before.stop ? stop : null,
    ].filter((part) => part !== null);
    if (parts.length > 0) setNews(({ count }) => ({ text: parts.join(' '), count: count + 1 }));
  }, [about, status, waiting, stop]);
  return (
    <div className="visually-hidden" role="status" aria-live="polite">
      {/* a new element each time: the same words twice are two announcements */}
      <span key={news.count}>{news.text}</span>
    </div>
  );
}
