// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const STEERING = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** A value as one line of JSON. What steers a terminal is escaped, also where JSON does not ask for it. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value).replace(STEERING, escaped)}\n`;

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
