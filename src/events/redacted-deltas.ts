import { REDACTED, type Redactor } from '../errors/redactor.ts';

/**
 * Redacts JSON that arrives in pieces: text leaves word by word, so that a secret is never shown in parts, and
 * the value of a secret key is not shown at all.
 */
export class RedactedDeltas {
  readonly #redactor: Redactor;
  #inString = false;
  #escaped = false;
  #secret = false;
  #token = '';
  #word = '';

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** What may be shown now. */
  push(delta: string): string {
    let shown = '';
    for (const char of delta) shown += this.#inString ? this.#inside(char) : this.#outside(char);
    return shown;
  }

  #outside(char: string): string {
    if (char === ':') this.#secret = this.#redactor.isSecretKey(this.#token);
    else if (char === ',' || char === '}') this.#secret = false;
    else if (char === '"') {
      this.#inString = true;
      this.#token = '';
      return this.#secret ? `"${REDACTED}` : '"';
    }
    return char;
  }

  #inside(char: string): string {
    if (char === '"' && !this.#escaped) {
      this.#inString = false;
      return `${this.#flush()}"`;
    }
    this.#escaped = char === '\\' && !this.#escaped;
    this.#token += char;
    this.#word += char;
    return char === ' ' ? this.#flush() : '';
  }

  #flush(): string {
    const word = this.#word;
    this.#word = '';
    return this.#secret ? '' : this.#redactor.text(word);
  }
}
