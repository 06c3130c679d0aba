import { REDACTED, type Redactor } from '../errors/redactor.ts';
import { parseJson } from '../json.ts';

/**
 * Redacts JSON that arrives in pieces; read together, what was shown is what `redactor.value` makes of the whole.
 * Strings leave whole, so that a secret is never shown in parts, and text that is no JSON is not shown at all.
 */
export class RedactedDeltas {
  readonly #redactor: Redactor;
  #inString = false;
  #escaped = false;
  /** The string or bare word that is arriving, as written. */
  #held = '';
  /** The last string: the key, once a colon follows. */
  #last = '';
  #isSecretNext = false;
  /** How deep inside the value of a secret key. */
  #hidden = 0;
  #isBroken = false;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** What may be shown now. */
  push(delta: string): string {
    let shown = '';
    for (const char of delta) {
      if (this.#isBroken) break;
      shown += this.#inString ? this.#inside(char) : this.#outside(char);
    }
    return shown;
  }

  #inside(char: string): string {
    if (char === '"' && !this.#escaped) return this.#string(this.#take());
    this.#escaped = char === '\\' && !this.#escaped;
    this.#held += char;
    return '';
  }

  #outside(char: string): string {
    if (char === '"' && this.#held === '') this.#inString = true;
    else if (/[\s{}[\],:]/.test(char)) return this.#word(this.#take()) + this.#structure(char);
    else this.#held += char;
    return '';
  }

  #take(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }

  #string(raw: string): string {
    this.#inString = false;
    const parsed = parseJson(`"${raw}"`);
    const text = parsed.ok && typeof parsed.value === 'string' ? parsed.value : raw;
    this.#last = text;
    if (this.#hidden > 0) return '';
    const redacted = this.#isSecretNext && text !== '' ? REDACTED : this.#redactor.text(text);
    this.#isSecretNext = false;
    return redacted === text ? `"${raw}"` : JSON.stringify(redacted);
  }

  /** Numbers, true, false and null: whatever else stands outside of strings is no JSON. */
  #word(word: string): string {
    if (word === '') return '';
    this.#isBroken = !parseJson(word).ok;
    this.#isSecretNext = false;
    return this.#isBroken || this.#hidden > 0 ? '' : word;
  }

  #structure(char: string): string {
    if (this.#isBroken) return '';
    const opens = char === '{' || char === '[';
    const closes = char === '}' || char === ']';
    if (this.#hidden > 0) {
      this.#hidden += opens ? 1 : closes ? -1 : 0;
      return '';
    }
    if (opens && this.#isSecretNext) {
      this.#hidden = 1;
      this.#isSecretNext = false;
      return JSON.stringify(REDACTED);
    }
    if (char === ':') this.#isSecretNext = this.#redactor.isSecretKey(this.#last);
    return char;
  }
}
