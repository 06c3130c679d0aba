import { logText } from '../errors/log-text.ts';

/** One line, without secrets: a stack would say more than a log should keep. */
export function reportFault(error: unknown): void {
  console.error(`onward: a request failed: ${logText(String(error))}`);
}
