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

/** One less than the longest of these. */
const HINT_TAIL = 5;
/** How much of what was shown is looked at again: longer than any name with its signs. */
const LOOK_BACK = 96;
/** Cut now and then: to cut a text means to copy it. */
const MOST_BEFORE = 1_024;
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
  /** The very end of it. */
  #tail = '';
  /** Characters that were shown since the last hint. */
  #sinceHint = LOOK_BACK;
  #held = '';

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** What may be shown now. */
  push(piece: string): string {
    if (this.#held === '' && this.#isPlain(piece)) return this.#shown(piece, piece);
    const text = this.#held + piece;
    const before = this.#before.slice(-LOOK_BACK);
    const start = Math.max(this.#startOfOpen(before + text) - before.length, 0);
    const isOverlong = text.length - start > MOST_HELD && !text.includes('-----BEGIN ');
    return this.#split(text, isOverlong ? text.length : start);
  }

  /** The rest, at the end of the message. */
  release(): string {
    return this.#held === '' ? '' : this.#split(this.#held, this.#held.length);
  }

  #isPlain(piece: string): boolean {
    if (this.#redactor !== defaultRedactor || this.#sinceHint < LOOK_BACK) return false;
    return !hint.test(this.#tail + piece);
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
    const word = /\S*$/.exec(this.#before.slice(-LOOK_BACK))?.[0] ?? '';
    const whole = this.#redactor.text(word + raw);
    if (hint.test(this.#tail + raw)) this.#sinceHint = -raw.length;
    return this.#shown(raw, whole.startsWith(word) ? whole.slice(word.length) : whole);
  }

  #shown(raw: string, visible: string): string {
    const before = this.#before + raw;
    this.#before = before.length > MOST_BEFORE ? before.slice(-LOOK_BACK) : before;
    this.#tail = (this.#tail + raw).slice(-HINT_TAIL);
    this.#sinceHint += raw.length;
    return visible;
  }
}
