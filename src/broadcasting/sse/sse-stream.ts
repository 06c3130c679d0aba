/** Heartbeats after which a client that reads nothing is disconnected. */
const MAX_MISSED_BEATS = 2;

/**
 * The bytes for one client. Nothing is passed to the stream before the client pulls, so the whole backlog is here: it
 * can be counted and dropped.
 */
export class SseStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #wanted: () => void;
  readonly #ended: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  /** Bytes of the backlog that the client requested; they do not count as its delay. */
  #owed = 0;
  #isWanted = false;
  #isEnded = false;
  #takes = 0;
  #takesAtBeat = 0;
  #endListener: () => void = () => {};
  #beats = 0;

  /** `wanted`: the client has read everything and pulls. `ended`: it reads nothing more. */
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
  /** Unrequested bytes that the client has not read. */
  get backlog(): number {
    return this.#bytes - this.#owed;
  }

  write(bytes: Uint8Array): void {
    if (this.#isEnded) return;
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
  }

  /** Adds bytes before all others. */
  writeFirst(bytes: Uint8Array): void {
    if (this.#isEnded) return;
    this.#waiting.unshift(bytes);
    this.#bytes += bytes.length;
    this.#owed += bytes.length;
  }

  /** Calls `listener` once when the client reads nothing more. */
  onEnd(listener: () => void): void {
    this.#endListener = listener;
  }

  /** Marks the current backlog as requested by the client. */
  owe(): void {
    this.#owed = this.#bytes;
  }

  /** Passes the backlog to a client that pulls, as one chunk, because each chunk costs a write to a socket. */
  flush(): void {
    if (!this.#isWanted || this.#waiting.length === 0 || this.#isEnded) return;
    this.#isWanted = false;
    this.#controller?.enqueue(this.#take());
  }

  /** Sends a heartbeat. Returns false if the client has read nothing for several of them. */
  beat(bytes: Uint8Array): boolean {
    if (this.isEmpty || this.#takes > this.#takesAtBeat) this.#beats = 0;
    else if (++this.#beats > MAX_MISSED_BEATS) return false;
    this.#takesAtBeat = this.#takes;
    if (this.isEmpty) {
      this.write(bytes);
      this.flush();
    }
    return true;
  }

  /** Ends the stream after its backlog. */
  end(): void {
    if (this.#isEnded) return;
    if (this.#waiting.length > 0) this.#controller?.enqueue(this.#take());
    this.drop();
  }

  /** Ends the stream without its backlog: the client reconnects to get it. */
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
