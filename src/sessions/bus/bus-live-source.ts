import {
  isCurrentText,
  type LiveEvent,
  type LiveSource,
  type LogPosition,
  type RemoteListener,
  type TextSoFar,
} from '../feed/live-source.ts';
import type { SessionListeners } from '../session-listeners.ts';
import type { SessionBus } from './session-bus.ts';

const unused: RemoteListener = { text() {}, changed() {} };

/** Live events of workers in this process and in processes that the bus reaches. */
export class BusLiveSource implements LiveSource {
  readonly #local: SessionListeners;
  readonly #bus: SessionBus;

  constructor(local: SessionListeners, bus: SessionBus) {
    this.#local = local;
    this.#bus = bus;
  }

  get isRemote(): boolean {
    return this.#bus.isConnected;
  }

  listen(
    sessionId: string,
    listener: (event: LiveEvent) => void,
    remote: RemoteListener = unused,
  ): () => void {
    const unlisten = this.#local.listen(sessionId, listener);
    const unwatch = this.#bus.watch(sessionId, remote);
    return () => {
      unlisten();
      unwatch();
    };
  }

  localText(sessionId: string): TextSoFar | null {
    return this.#local.localText(sessionId);
  }

  textSoFar(
    sessionId: string,
    position: LogPosition,
  ): TextSoFar | null | Promise<TextSoFar | null> {
    const local = this.#local.localText(sessionId);
    return isCurrentText(local, position) ? local : this.#bus.textSoFar(sessionId, position);
  }
}
