import type { McpClient } from './open-client.ts';

/** Milliseconds of the first wait, of the longest one, and for which a stream that held resets them. */
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 60_000;
const HELD_MS = 10_000;

/**
 * Keeps the stream on which a server of the newer generation announces changed lists. The client package opens it once, so
 * that a server that restarts, or a socket that breaks, would end the announcements. Each time it is open again, the list
 * may have changed unheard.
 */
export async function keepListening(
  client: McpClient,
  isOpen: () => boolean,
  onToolsChanged: () => void,
): Promise<void> {
  let stream = client.autoOpenedSubscription;
  if (!stream && !announces(client)) return;
  for (let failures = 0; isOpen();) {
    const at = Date.now();
    if (stream) {
      await stream.closed;
      if (Date.now() - at > HELD_MS) failures = 0;
    }
    await rest(Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** failures++));
    if (!isOpen()) return;
    stream = await client.listen({ toolsListChanged: true }).catch(() => undefined);
    if (stream) onToolsChanged();
  }
}

/** Whether the server is one that has such a stream: older ones announce changes without it. */
const announces = (client: McpClient): boolean =>
  client.getServerCapabilities()?.tools?.listChanged === true &&
  client.getProtocolEra() === 'modern';

/** Waits, and keeps no process alive for it. */
const rest = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    (timer as { unref?(): void }).unref?.();
  });
