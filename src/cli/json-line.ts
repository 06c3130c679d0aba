import { visibleJson } from '../visible-text.ts';

/** Formats a value as one line of JSON. Terminal control characters are escaped, even if JSON does not require it. */
export const jsonLine = (value: unknown): string => `${visibleJson(JSON.stringify(value))}\n`;
