import { hidesUnder, REDACTED, type Redactor } from '../errors/redactor.ts';
import { parseJson } from '../json.ts';

/** Characters that end a number or a word. */
const structure = /[\s{}[\],:"]/g;
const stringEnd = /["\\]/g;

/**
 * Redacts JSON that arrives in chunks; together they equal `redactor.value` of the whole. A string is emitted as a
 * whole, so that a secret is never shown in parts, and text that is not JSON is not shown.
 */
export class RedactedDeltas {
  readonly #redactor: Redactor;
  #inString = false;
  #escaped = false;
  /** The string or bare word that is arriving, as written; empty inside a hidden value. */
  #held = '';
  /** The last string: the key, if a colon follows. */
  #last = '';
  /** Key of the next value; null if it has none. */
  #key: string | null = null;
  /** Value of `name` or `key` in this object: `{ "name": "Cookie", "value": … }`. */
  #label = '';
  /** Depth inside the value of a secret key. */
  #hidden = 0;
  #isBroken = false;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Returns what may be shown now. */
  push(delta: string): string {
    let shown = '';
    for (let at = 0; at < delta.length && !this.#isBroken;) {
      const pattern = this.#inString ? stringEnd : structure;
      pattern.lastIndex = this.#escaped ? at + 1 : at;
      this.#escaped = false;
      const found = pattern.exec(delta);
      const end = found?.index ?? delta.length;
      if (!this.#inString || this.#hidden === 0) this.#held += delta.slice(at, end);
      if (found === null) break;
      shown += this.#inString ? this.#inside(found[0]) : this.#outside(found[0]);
      at = end + 1;
    }
    return shown;
  }

  #inside(char: string): string {
    if (char === '"') return this.#string(this.#take());
    this.#escaped = true;
    if (this.#hidden === 0) this.#held += char;
    return '';
  }

  #outside(char: string): string {
    if (char !== '"') return this.#word(this.#take()) + this.#structure(char);
    if (this.#held === '') this.#inString = true;
    else this.#isBroken = true;
    return '';
  }

  #take(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }

  #string(raw: string): string {
    this.#inString = false;
    if (this.#hidden > 0) return '';
    const parsed = raw.includes('\\') ? parseJson(`"${raw}"`) : null;
    const text = parsed?.ok && typeof parsed.value === 'string' ? parsed.value : raw;
    this.#last = text;
    const redacted = this.#isHidden(text) ? REDACTED : this.#redactor.text(text);
    if (this.#key === 'name' || this.#key === 'key') this.#label = text;
    this.#key = null;
    return redacted === text ? `"${raw}"` : JSON.stringify(redacted);
  }

  /** Numbers, true, false and null: anything else outside of strings is not JSON. */
  #word(word: string): string {
    if (word === '') return '';
    const parsed = parseJson(word);
    this.#isBroken = !parsed.ok;
    const isHidden = parsed.ok && this.#isHidden(parsed.value);
    this.#key = null;
    if (this.#isBroken || this.#hidden > 0) return '';
    return isHidden ? JSON.stringify(REDACTED) : word;
  }

  #structure(char: string): string {
    if (this.#isBroken) return '';
    const opens = char === '{' || char === '[';
    const closes = char === '}' || char === ']';
    if (this.#hidden > 0) {
      this.#hidden += opens ? 1 : closes ? -1 : 0;
      return '';
    }
    if (opens && this.#isHidden(container)) {
      this.#hidden = 1;
      this.#key = null;
      return JSON.stringify(REDACTED);
    }
    if (opens) this.#key = null;
    if (char === '{' || char === '}') this.#label = '';
    if (char === ':') this.#key = this.#last;
    return char;
  }

  #isHidden(value: unknown): boolean {
    if (this.#key === null) return false;
    const isLabeled = this.#key === 'value' && this.#label !== '' && typeof value === 'string';
    return (
      hidesUnder(this.#redactor, this.#key, value) ||
      (isLabeled && this.#redactor.isSecretKey(this.#label))
    );
  }
}

const container = Object.freeze({});
