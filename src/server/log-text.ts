import { defaultRedactor } from '../errors/make-redactor.ts';

// oxlint-disable-next-line no-control-regex -- control characters are what is taken out
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** For a log that people read in a terminal: without secrets, and without what could steer it. */
export const logText = (text: string): string => defaultRedactor.text(text).replace(STEERING, '');
