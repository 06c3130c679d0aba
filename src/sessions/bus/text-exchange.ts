import { uuid } from '../../ids.ts';
import type { LiveStreamed, TextSoFar } from '../feed/live-source.ts';
import { bodiesOf, type LiveOutboxOptions } from './live-outbox.ts';
import { eventsOf, LiveTextList, parseTexts, PartJoiner } from './live-text.ts';

interface Question {
  readonly sessionId: string;
  readonly events: LiveStreamed[];
  readonly parts: PartJoiner;
  /** Number of characters received. */
  size: number;
  answer(text: TextSoFar | null): void;
}

/** How long a question stays open, in milliseconds. Readers do not wait longer. */
const OPEN_MS = 1_500;
const MOST_OPEN = 1_000;
/** Most characters of an answer. */
const MOST = 0x80000;

/** Open questions of this process for the text so far. */
export class TextQuestions {
  readonly #open: Map<string, Question> = new Map();

  /**
   * Asks for the text so far. `send` sends the question with the given id. Resolves with null without a complete
   * answer.
   */
  ask(sessionId: string, send: (question: string) => void): Promise<TextSoFar | null> {
    if (this.#open.size >= MOST_OPEN) return Promise.resolve(null);
    const id = uuid();
    return new Promise((resolve) => {
      const answer = (text: TextSoFar | null): void => {
        clearTimeout(timer);
        this.#open.delete(id);
        resolve(text);
      };
      const timer = setTimeout(answer, OPEN_MS, null);
      this.#open.set(id, { sessionId, events: [], parts: new PartJoiner(), size: 0, answer });
      send(id);
    });
  }

  isOpen(question: string): boolean {
    return this.#open.has(question);
  }

  /** Adds the next part of an answer. */
  receive(question: string, body: string, isLast: boolean): void {
    const asked = this.#open.get(question);
    if (!asked) return;
    asked.size += body.length;
    if (asked.size > MOST) return asked.answer(null);
    for (const text of parseTexts(body)) {
      const joined = text.sessionId === asked.sessionId ? asked.parts.join(text) : null;
      if (joined) asked.events.push(...eventsOf(joined));
    }
    if (!isLast) return;
    const { events } = asked;
    const [first] = events;
    if (!first) return asked.answer(null);
    const { executionId } = first.event;
    asked.answer({ executionId, follows: first.follows, events });
  }

  close(): void {
    for (const { answer } of Array.from(this.#open.values())) answer(null);
  }
}

/** Sends the text so far as an answer in parts. The last part is empty. */
export async function answerWith(
  { events }: TextSoFar,
  limits: Pick<LiveOutboxOptions, 'maxBytes' | 'encode'>,
  send: (body: string, isLast: boolean) => void,
): Promise<void> {
  const list = new LiveTextList();
  for (const live of events) list.add(live);
  for await (const body of bodiesOf(list.texts, limits)) send(body, false);
  send(await limits.encode('[]'), true);
}
