import { createRedactor, type JsonObject, type Redactor } from 'onward';

/** Secrets that the redactor finds by their format, by their key, and by a custom pattern. */
export const byLook = 'sk-live-CANARY0123456789abcdef';
export const byKey = 'CANARY under a key';
export const ours = 'CANARY/4711';
export const redactor: Redactor = createRedactor({ keys: ['iban'], patterns: [/CANARY\/\d+/] });

/** All three, as data and in an error message. */
export const planted: JsonObject = {
  note: `use ${byLook} for ${ours}`,
  password: byKey,
  nested: [{ iban: byKey, body: JSON.stringify({ apiKey: byKey, list: [ours] }) }],
};
export const words: string = `401 for ${byLook} of ${ours}: {"password":"${byKey}"}`;

/** Returns the text around a secret, or null. */
export const leakIn = (text: string): string | null =>
  /.{0,80}CANARY.{0,20}/s.exec(text)?.[0] ?? null;
