/** Splits a PostgreSQL connection into messages, however its bytes arrive. */
export class WireMessages {
  #bytes: Buffer = Buffer.alloc(0);
  /** The first messages of a client have no type. */
  #isStarting: boolean;

  constructor(isOfClient: boolean) {
    this.#isStarting = isOfClient;
  }

  /** Returns the messages that are complete. */
  push(bytes: Buffer): WireMessage[] {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    const messages: WireMessage[] = [];
    for (;;) {
      const message = this.#next();
      if (!message) return messages;
      messages.push(message);
    }
  }

  #next(): WireMessage | null {
    const head = this.#isStarting ? 0 : 1;
    if (this.#bytes.length < head + 4) return null;
    const end = head + this.#bytes.readInt32BE(head);
    if (this.#bytes.length < end) return null;
    const bytes = this.#bytes.subarray(0, end);
    this.#bytes = this.#bytes.subarray(end);
    if (head === 1) return { type: String.fromCharCode(bytes[0] ?? 0), bytes };
    const code = bytes.readInt32BE(4);
    if (code === SSL_REQUEST) return { type: 'ssl', bytes };
    this.#isStarting = false;
    return { type: 'startup', bytes };
  }
}

export interface WireMessage {
  /** The protocol letter, `startup` or `ssl`. */
  readonly type: string;
  readonly bytes: Buffer;
}

const SSL_REQUEST = 80_877_103;

const fields = ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to postmaster exit'];
const fieldBytes = Buffer.from(`${fields.join('\0')}\0\0`);
const length = Buffer.alloc(4);
length.writeInt32BE(4 + fieldBytes.length);
/** Message with which a server ends a connection when it dies. */
export const lastMessage: Buffer = Buffer.concat([Buffer.from('E'), length, fieldBytes]);

/** Whether the client waits for the answer to everything it sent. */
export const endsRound = ({ type }: WireMessage): boolean => type === 'Q' || type === 'S';

/** Strings that end with a zero byte. */
function textsIn(bytes: Buffer, from: number, count: number): string[] {
  const texts: string[] = [];
  let at = from;
  while (texts.length < count) {
    const end = bytes.indexOf(0, at);
    texts.push(bytes.toString('utf8', at, end));
    at = end + 1;
  }
  return texts;
}

/** The SQL that a client sends before an answer. Prepared statements are found by name. */
export function statementOf(round: readonly WireMessage[], prepared: Map<string, string>): string {
  for (const { type, bytes } of round) {
    if (type === 'Q') return textsIn(bytes, 5, 1)[0] ?? '';
    if (type === 'P') {
      const [name = '', text = ''] = textsIn(bytes, 5, 2);
      prepared.set(name, text);
      return text;
    }
    if (type === 'B') return prepared.get(textsIn(bytes, 5, 2)[1] ?? '') ?? '';
  }
  return '';
}
