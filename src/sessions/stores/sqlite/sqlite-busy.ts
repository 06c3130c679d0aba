import { resultCode, SqliteCode } from './sqlite-codes.ts';

/** Whether another process locks the file. */
export const isBusy = (error: unknown): boolean => resultCode(error) === SqliteCode.Busy;

/** Waits between tries in milliseconds, like those of SQLite, but without blocking the event loop. */
const WAITS_MS = [1, 2, 5, 10, 15, 20, 25];

export const busyWaitMs = (tries: number): number => WAITS_MS[tries] ?? 25;

/** Retries while another process locks the file, for up to `timeoutMs`. */
export async function whileBusy<T>(timeoutMs: number, attempt: () => T): Promise<T> {
  const endsAt = performance.now() + timeoutMs;
  for (let tries = 0; ; tries++)
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= endsAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, busyWaitMs(tries)));
    }
}
