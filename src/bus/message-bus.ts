/**
 * Carries short messages between processes. A message may be lost but is never changed. It has no authority: a receiver
 * reads the session store.
 */
export interface MessageBus {
  /** Largest message, in bytes of UTF-8. */
  readonly maxBytes: number;
  /**
   * Connects in the background, and again after each loss, until `close`. Other connections address this one by its
   * `node`: any text that is unique to the process.
   */
  open(node: string, handlers: BusHandlers): BusConnection;
}

/**
 * Callbacks of a connection, never called from within `open` or `send`. An error that a callback throws is passed to
 * `failed`.
 */
export interface BusHandlers {
  /**
   * Called with each message to this node or to all nodes, in the order in which its sender sent them, and never with a
   * message of this connection.
   */
  received(text: string): void;
  /** Called after each connect. Messages that were sent to this node before are lost. */
  connected(): void;
  /**
   * Called when there is no connection, once for each reason until the next connect, and with each message that the bus
   * refuses.
   */
  failed(error: unknown): void;
}

export interface BusConnection {
  readonly isConnected: boolean;
  /**
   * Sends to one node, or to all others with null. Never throws and never waits. Messages are lost without a
   * connection, and if too many wait to be sent, droppable ones first. A message that is larger than `maxBytes`, has
   * NUL characters or is not well-formed text is reported to `failed` and not sent. JSON is always well-formed.
   */
  send(to: string | null, text: string, options?: { readonly isDroppable?: boolean }): void;
  /** Sends waiting messages within a second, and disconnects. No callback is called any more. */
  close(): Promise<void>;
}
