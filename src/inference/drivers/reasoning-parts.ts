/** Joins the reasoning of one answer: a blank line separates its parts, streamed or not. */
export class ReasoningParts {
  #text = '';
  /** The last two characters. */
  #end = '';
  #part: unknown = undefined;

  get text(): string {
    return this.#text;
  }

  /** Adds a piece and returns the added text. `part` identifies the part; null if the provider has no parts. */
  add(part: unknown, piece: string): string {
    if (piece === '') return '';
    const isOther = part !== null && this.#text !== '' && part !== this.#part;
    const added = isOther ? BLANK_LINE.slice(lineFeedsAtEnd(this.#end)) + piece : piece;
    this.#part = part;
    this.#text += added;
    this.#end = (this.#end + added.slice(-2)).slice(-2);
    return added;
  }

  /** Ends the current part: the next piece starts another one, even with the same `part`. */
  endPart(): void {
    this.#part = undefined;
  }
}

const BLANK_LINE = '\n\n';

const lineFeedsAtEnd = (end: string): number =>
  end === BLANK_LINE ? 2 : end.endsWith('\n') ? 1 : 0;
