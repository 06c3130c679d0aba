/** A client that takes nothing of what waits for it is let go after so many heartbeats. */
const MOST_BEATS = 2;

/**
 * The bytes on their way to one client. Nothing is handed on before the client wants it, so what waits here is all that
 * waits, and it can be counted and thrown away.
 */
export class SseStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #wanted: () => void;
  readonly #ended: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  /** Bytes that the client asked for at once, and that are not held against it. */
  #owed = 0;
  #isWanted = false;
  #isEnded = false;
  #takes = 0;
  #takesAtBeat = 0;
  #endListener: () => void = () => {};
  #beats = 0;

  /** `wanted`: the client has taken everything and waits. `ended`: it will take nothing more. */
  constructor(hooks: { readonly wanted: () => void; readonly ended: () => void }) {
    this.#wanted = hooks.wanted;
    this.#ended = hooks.ended;
    this.body = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#isWanted = true;
          this.flush();
          if (this.#isWanted) this.#wanted();
        },
        cancel: () => this.#over(),
      },
      { highWaterMark: 0 },
    );
  }

  get isWanted(): boolean {
    return this.#isWanted;
  }
  get isEnded(): boolean {
    return this.#isEnded;
  }
  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }
  /** Bytes that came without being asked for, and that the client does not take. */
  get backlog(): number {
    return this.#bytes - this.#owed;
  }

  write(bytes: Uint8Array): void {
    if (this.#isEnded) return;
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
  }

  /** What the client needs before all else. */
  writeFirst(bytes: Uint8Array): void {
    if (this.#isEnded) return;
    this.#waiting.unshift(bytes);
    this.#bytes += bytes.length;
    this.#owed += bytes.length;
  }

  /** Called once when the client takes nothing more. */
  onEnd(listener: () => void): void {
    this.#endListener = listener;
  }

  /** What waits up to here was asked for. */
  owe(): void {
    this.#owed = this.#bytes;
  }

  /** Hands on what waits, if the client wants it; in one piece, because each costs a write to a socket. */
  flush(): void {
    if (!this.#isWanted || this.#waiting.length === 0 || this.#isEnded) return;
    this.#isWanted = false;
    this.#controller?.enqueue(this.#take());
  }

  /** A sign of life; false where the client has taken nothing over several of them. */
  beat(bytes: Uint8Array): boolean {
    if (this.isEmpty || this.#takes > this.#takesAtBeat) this.#beats = 0;
    else if (++this.#beats > MOST_BEATS) return false;
    this.#takesAtBeat = this.#takes;
    if (this.isEmpty) {
      this.write(bytes);
      this.flush();
    }
    return true;
  }

  /** Ends it after what waits. */
  end(): void {
    if (this.#isEnded) return;
    if (this.#waiting.length > 0) this.#controller?.enqueue(this.#take());
    this.drop();
  }

  /** Ends it without what waits: the client comes back for that. */
  drop(): void {
    if (this.#isEnded) return;
    this.#over();
    this.#controller?.close();
  }

  #over(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#waiting = [];
    this.#bytes = 0;
    this.#owed = 0;
    this.#ended();
    this.#endListener();
  }

  #take(): Uint8Array {
    const [first, ...rest] = this.#waiting;
    const all = first && rest.length === 0 ? first : joined(this.#waiting, this.#bytes);
    this.#takes += 1;
    this.#waiting = [];
    this.#bytes = 0;
    this.#owed = 0;
    return all;
  }
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
