import { visibleText } from '../visible-text.ts';
import { messageOf } from './error-record.ts';
import { defaultRedactor } from './make-redactor.ts';

/**
 * Returns one line for a log: without secrets, and without characters that could forge a line or control a terminal.
 */
export const logText = (text: string): string => visibleText(defaultRedactor.text(text));

/** Returns the message of a thrown value in one line. */
export const logMessage = (thrown: unknown): string => logText(messageOf(thrown));

/** Returns the message in one line and the stack frames below, so that a message cannot forge log lines. */
export function logStack(thrown: unknown): string {
  if (!(thrown instanceof Error)) return logMessage(thrown);
  const lines = (thrown.stack ?? '').split('\n');
  const first = lines.findLastIndex((line) => !/^\s+at /.test(line)) + 1;
  const head = `${thrown.name}: ${messageOf(thrown)}`;
  return [head, ...lines.slice(first)]
    .map((line, i) => (i === 0 ? logText(line) : `    ${logText(line.trim())}`))
    .join('\n');
}
