import { visibleJson } from '../visible-text.ts';

/** A value as one line of JSON. What steers a terminal is escaped, also where JSON does not ask for it. */
export const jsonLine = (value: unknown): string => `${visibleJson(JSON.stringify(value))}\n`;
