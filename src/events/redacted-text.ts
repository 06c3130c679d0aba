import { defaultRedactor, type Redactor } from '../errors/redactor.ts';

/** What has to be there for anything below to match; most pieces of prose have none of it. */
const hint = /[-_=:"'/]|eyJ|AKIA|ASIA|AIza|bearer/i;

/** Beginnings of secrets that may still be growing at the end of a text, by shape. */
const growing: readonly RegExp[] = [
  /(?<![A-Za-z0-9])(?:(?:sk|pk|rk)[-_]|gh[pousr]_|github_pat_|xox[abeprs]-|AKIA|ASIA|AIza|eyJ)\S*$/,
  /\w:\/\/\S*$/,
  /\bbearer\s+\S*$/i,
  /\bauthorization["']?\s*[:=]\s*["']?(?:basic|digest|token)?\s*\S*$/i,
  /-----BEGIN (?![\s\S]*-----END [A-Z ]*-----)[\s\S]*$/,
];
/** And by the name that stands before them. */
const assigned = /(?<![\w.-])([\w.-]{2,64})=[^\s&;,"']*$/;
const quoted = /(\\*["'])([\w.-]{2,64})\1\s*:\s*(?:(\\*["'])(?:(?!\3)[\s\S])*)?$/;

/** How much of what was shown is looked at again: longer than any name with its signs. */
const LOOK_BACK = 96;
/** Nobody waits longer for the end of a secret, but for that of a private key. */
const MOST_HELD = 4_096;

/**
 * Redacts text that arrives in pieces. A piece is shown as it comes, unless it could be part of a secret: that is held
 * back until its end has come. A redactor of somebody's own knows secrets of any shape, so with it whole words are held.
 */
export class RedactedText {
  readonly #redactor: Redactor;
  /** The end of what was shown, as it was. */
  #before = '';
  #held = '';

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** What may be shown now. */
  push(piece: string): string {
    if (this.#held === '' && this.#isPlain(piece)) return this.#shown(piece, piece);
    const text = this.#held + piece;
    const seen = this.#before + text;
    const start = Math.max(this.#startOfOpen(seen) - this.#before.length, 0);
    const isOverlong = text.length - start > MOST_HELD && !text.includes('-----BEGIN ');
    return this.#split(text, isOverlong ? text.length : start);
  }

  /** The rest, at the end of the message. */
  release(): string {
    return this.#held === '' ? '' : this.#split(this.#held, this.#held.length);
  }

  #isPlain(piece: string): boolean {
    return this.#redactor === defaultRedactor && !hint.test(this.#before + piece);
  }

  /** Where something begins that is not over yet; the length of the text where there is nothing. */
  #startOfOpen(seen: string): number {
    let start = seen.length;
    for (const pattern of growing) start = Math.min(start, pattern.exec(seen)?.index ?? start);
    const assignment = assigned.exec(seen);
    if (assignment && this.#redactor.isSecretKey(assignment[1] ?? ''))
      start = Math.min(start, assignment.index);
    const entry = quoted.exec(seen);
    if (entry && this.#redactor.isSecretKey(entry[2] ?? '')) start = Math.min(start, entry.index);
    if (this.#redactor === defaultRedactor) return start;
    return Math.min(start, /\S*$/.exec(seen)?.index ?? start);
  }

  #split(text: string, end: number): string {
    const raw = text.slice(0, end);
    this.#held = text.slice(end);
    if (raw === '') return '';
    // a secret may have begun in what was shown before it could be known as one
    const word = /\S*$/.exec(this.#before)?.[0] ?? '';
    const whole = this.#redactor.text(word + raw);
    return this.#shown(raw, whole.startsWith(word) ? whole.slice(word.length) : whole);
  }

  #shown(raw: string, visible: string): string {
    this.#before = (this.#before + raw).slice(-LOOK_BACK);
    return visible;
  }
}
