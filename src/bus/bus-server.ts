/** A server that carries the messages of a bus, such as PostgreSQL. */
export interface BusServer {
  /** Name of the server in error messages. */
  readonly name: string;
  /** Starts to connect and to listen to both channels. */
  open(channels: BusChannels, events: LinkEvents): BusLink;
  /** Whether the server refused a request, and the connection still works. */
  isRefusal(error: unknown): boolean;
  /**
   * Whether a refusal is caused by the text of one message of several, and none of them was sent. The others are then
   * sent without it. Default: no refusal is.
   */
  isOfText?(error: unknown): boolean;
  /** Describes a failure as part of a sentence, without secrets. */
  explain(error: unknown): string;
}

export interface BusChannels {
  readonly all: string;
  readonly own: string;
}

export interface LinkEvents {
  received(payload: string): void;
  /** Called when the link is unusable. May be called at any time and repeatedly. */
  broken(error: unknown): void;
}

/** Connection of a bus to its server, from the first attempt to connect until its end. It never reconnects. */
export interface BusLink {
  /** Resolves when the link listens. */
  readonly ready: Promise<void>;
  /** Resolves when the server has accepted the messages. */
  publish(messages: readonly BusMessage[]): Promise<unknown>;
  /** Resolves when the server has answered on every connection of the link. */
  ping(): Promise<unknown>;
  /** Ends every connection, even one that is being opened, within about a second. Never rejects. */
  close(): Promise<void>;
}

export interface BusMessage {
  readonly channel: string;
  readonly payload: string;
}
