import { logText } from '../errors/log-text.ts';

/** Logs one redacted line: a stack may contain more than a log should keep. */
export function reportFault(error: unknown): void {
  console.error(`onward: a request failed: ${logText(String(error))}`);
}
