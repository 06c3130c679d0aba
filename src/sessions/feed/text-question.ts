import type { LiveStreamed, TextSoFar } from './live-source.ts';

type Answered = (text: TextSoFar | null, kept: readonly LiveStreamed[]) => void;
type Ask = () => TextSoFar | null | Promise<TextSoFar | null>;

/** How long a worker may take to answer, in milliseconds. */
const TEXT_MS = 1_000;
/** Most pieces that are kept until then. */
const MOST_KEPT = 256;

/** Asks the worker for the text so far, one question at a time. */
export class TextQuestion {
  /** Pieces that do not follow and came after the question, because the answer may be older. */
  #kept: LiveStreamed[] | null = null;

  /** Ignores the pending answer, because the position of the reader has changed. */
  cancel(): void {
    this.#kept = null;
  }

  /**
   * Asks the worker. Calls back with null if no answer comes in time, and not at all while another question is pending.
   */
  ask(worker: Ask, missing: LiveStreamed | null, answered: Answered): void {
    if (this.#kept) {
      if (missing && this.#kept.length < MOST_KEPT) this.#kept.push(missing);
      return;
    }
    const kept = missing ? [missing] : [];
    const answer = worker();
    if (!(answer instanceof Promise)) return answered(answer, kept);
    this.#kept = kept;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, TEXT_MS, null);
    });
    void Promise.race([answer.catch(() => null), late]).then((text) => {
      clearTimeout(timer);
      if (this.#kept !== kept) return;
      this.#kept = null;
      answered(text, kept);
    });
  }
}
