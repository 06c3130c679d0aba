import { useEffect, useRef, useState, type ReactElement } from 'react';

export interface AnnouncerProps {
  /** Key of the page. What is true when it opens is not announced. */
  readonly about: string;
  /** Status; null before it is known. */
  readonly status: string | null;
  /** Tools that need approval. */
  readonly approvals: readonly string[];
  /** Tools that ask the user. */
  readonly inputs: readonly string[];
  readonly stop: string | null;
}

/** Announces status changes, approvals and why it stopped to screen readers. Never chunks or timers. */
export function Announcer(props: AnnouncerProps): ReactElement {
  const { about, status, approvals, inputs, stop } = props;
  const [news, setNews] = useState({ text: '', count: 0 });
  const announced = useRef<AnnouncerProps | null>(null);
  const waiting = approvals.join();
  const asking = inputs.join();
  useEffect(() => {
    const before = announced.current;
    const current = { about, status, approvals: listIn(waiting), inputs: listIn(asking), stop };
    announced.current = current;
    if (!before || before.about !== about || before.status === null) return;
    const asked = current.approvals.filter((tool) => !before.approvals.includes(tool));
    const questions = current.inputs.filter((tool) => !before.inputs.includes(tool));
    const parts = [
      status !== null && status !== before.status ? `${status}.` : null,
      ...asked.map((tool) => `${tool} needs your approval.`),
      ...questions.map((tool) => `${tool} needs an answer.`),
      stop !== null && stop !== before.stop ? stop : null,
    ].filter((part) => part !== null);
    if (parts.length > 0) setNews(({ count }) => ({ text: parts.join(' '), count: count + 1 }));
  }, [about, status, waiting, asking, stop]);
  return (
    <div className="visually-hidden" role="status" aria-live="polite">
      {/* a new element each time: the same text twice is announced twice */}
      <span key={news.count}>{news.text}</span>
    </div>
  );
}

const listIn = (text: string): readonly string[] => (text === '' ? [] : text.split(','));
