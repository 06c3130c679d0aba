export interface SseMessage {
  /** `message` where the stream named none. */
  readonly event: string;
  readonly data: string;
  /** The last one the stream gave, which may be of an earlier message. */
  readonly id: string | null;
}

export interface SseParser {
  /** Takes the text as it comes, split anywhere. */
  feed(text: string): void;
}

/**
 * Server-sent events as the standard reads them: lines end in CR, LF or both, a blank line ends a message, comments are
 * skipped, and what the end of the stream cuts off never becomes a message.
 */
export function sseParser(
  onMessage: (message: SseMessage) => void,
  onRetry: (ms: number) => void = () => {},
): SseParser {
  /** A line whose end has not come; only new text is searched, so a long line costs no more than a short one. */
  let open = '';
  let skipLf = false;
  const lineEnd = /\r\n?|\n/g;
  let id: string | null = null;
  let event = '';
  let data: string | null = null;

  const line = (text: string): void => {
    if (text === '') {
      if (data !== null) onMessage({ event: event || 'message', data, id });
      event = '';
      data = null;
      return;
    }
    const colon = text.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') data = data === null ? value : `${data}\n${value}`;
    else if (field === 'event') event = value;
    else if (field === 'id') id = value.includes('\0') ? id : value || null;
    else if (field === 'retry' && /^\d+$/.test(value)) onRetry(Number(value));
  };

  return {
    feed(piece) {
      // the second half of a line end whose first half came with the piece before
      const text = skipLf && piece[0] === '\n' ? piece.slice(1) : piece;
      if (piece !== '') skipLf = false;
      let start = 0;
      lineEnd.lastIndex = 0;
      for (let end = lineEnd.exec(text); end !== null; end = lineEnd.exec(text)) {
        line(open + text.slice(start, end.index));
        open = '';
        start = lineEnd.lastIndex;
        skipLf = end[0] === '\r' && start === text.length;
      }
      open += text.slice(start);
    },
  };
}
