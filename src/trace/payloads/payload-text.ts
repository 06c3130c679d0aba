import { safeEnd } from '../../errors/excerpt.ts';

/** The beginning of a text, and how to read the rest. */
export interface PayloadText {
  readonly text: string;
  readonly characters: number;
  readonly lines: number;
  /** Name of the whole text for {@link readPayload}; absent if this is all of it. */
  readonly part?: string;
  /** Whether the text is JSON; absent if not. */
  readonly isJson?: true;
}

/** Most characters of one text in a document. */
const MOST_CHARACTERS = 4_000;
/** Most characters of all texts in a document; texts behind it are shorter. */
const MOST_TOGETHER = 200_000;
const FEWEST_CHARACTERS = 200;

/** Cuts the texts of one document, and keeps the one that is asked for. */
export class PayloadTexts {
  readonly #wanted: string | null;
  #space: number = MOST_TOGETHER;
  #found: string | null = null;

  constructor(wanted: string | null = null) {
    this.#wanted = wanted;
  }

  /** The whole text of the wanted part; null if there is no such part. */
  get found(): string | null {
    return this.#found;
  }

  text(part: string, whole: string): PayloadText {
    if (part === this.#wanted) this.#found = whole;
    const most = Math.min(MOST_CHARACTERS, Math.max(FEWEST_CHARACTERS, this.#space));
    const text = whole.slice(0, safeEnd(whole, most));
    this.#space -= text.length;
    return {
      text,
      characters: whole.length,
      lines: linesOf(whole),
      ...(text.length < whole.length && { part }),
    };
  }

  /** Returns the text of a JSON value; strings without quotes. */
  json(part: string, value: unknown): PayloadText {
    if (typeof value === 'string') return this.text(part, value);
    return { ...this.text(part, jsonOf(value)), isJson: true };
  }
}

/** Returns JSON with line breaks, unless it fits into one line. */
function jsonOf(value: unknown): string {
  const short = JSON.stringify(value) ?? 'null';
  return short.length <= 60 ? short : (JSON.stringify(value, null, 2) ?? 'null');
}

function linesOf(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
