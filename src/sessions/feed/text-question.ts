import type { LiveStreamed, TextSoFar } from './live-source.ts';

type Answered = (text: TextSoFar | null, kept: readonly LiveStreamed[]) => void;
interface Asked {
  textSoFar(): TextSoFar | null | Promise<TextSoFar | null>;
}

/** How long a worker may take to answer. */
const TEXT_MS = 1_000;
/** Pieces that are kept until then. */
const MOST_KEPT = 256;

/** Asks the worker for the text so far, once at a time. */
export class TextQuestion {
  /** What does not follow and came since it was asked: the answer may be older. */
  #kept: LiveStreamed[] | null = null;

  /** Called back with null where no answer comes in time; not at all where one is still awaited. */
  ask(worker: Asked, missing: LiveStreamed | null, answered: Answered): void {
    if (this.#kept) {
      if (missing && this.#kept.length < MOST_KEPT) this.#kept.push(missing);
      return;
    }
    const kept = missing ? [missing] : [];
    const answer = worker.textSoFar();
    if (!(answer instanceof Promise)) return answered(answer, kept);
    this.#kept = kept;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, TEXT_MS, null);
    });
    void Promise.race([answer.catch(() => null), late]).then((text) => {
      clearTimeout(timer);
      this.#kept = null;
      answered(text, kept);
    });
  }
}
