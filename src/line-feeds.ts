/**
 * Turns each line end of a text that arrives in pieces, CR, LF or both, into one LF at once. Parsers that look for CR and
 * LF with every line search to the end of the piece each time.
 */
export class LineFeeds {
  #skipsLf = false;

  next(piece: string): string {
    // the second half of a line end whose first half came before
    const rest = this.#skipsLf && piece.startsWith('\n') ? piece.slice(1) : piece;
    if (piece !== '') this.#skipsLf = piece.endsWith('\r');
    return rest.includes('\r') ? rest.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : rest;
  }
}
