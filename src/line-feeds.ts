/**
 * Converts each line end (CR, LF or both) of a text that arrives in pieces to one LF. Parsers that search for CR and LF
 * in every line would read to the end of the piece each time.
 */
export class LineFeeds {
  #skipsLf = false;

  next(piece: string): string {
    // the second half of a CRLF whose first half was in the previous piece
    const rest = this.#skipsLf && piece.startsWith('\n') ? piece.slice(1) : piece;
    if (piece !== '') this.#skipsLf = piece.endsWith('\r');
    return rest.includes('\r') ? rest.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : rest;
  }
}
