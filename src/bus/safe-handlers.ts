import type { BusHandlers } from './message-bus.ts';

/**
 * Wraps handlers so that they never throw into a transport. Passes their errors to `failed`, and ignores errors of
 * `failed`.
 */
export function safeHandlers(handlers: BusHandlers): BusHandlers {
  const failed = (error: unknown): void => {
    try {
      handlers.failed(error);
    } catch {
      // there is nothing else to report to
    }
  };
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      failed(error);
    }
  };
  return {
    received: (text) => attempt(() => handlers.received(text)),
    connected: () => attempt(() => handlers.connected()),
    failed,
  };
}
