import { createRedactor, type JsonObject, type Redactor } from 'onward';

/** Found by its look, by its key, and by the redactor that the product brings itself. */
export const byLook = 'sk-live-CANARY0123456789abcdef';
export const byKey = 'CANARY under a key';
export const ours = 'CANARY/4711';
export const redactor: Redactor = createRedactor({ keys: ['iban'], patterns: [/CANARY\/\d+/] });

/** All three, as data and as the words of an error. */
export const planted: JsonObject = {
  note: `use ${byLook} for ${ours}`,
  password: byKey,
  nested: [{ iban: byKey, body: JSON.stringify({ apiKey: byKey, list: [ours] }) }],
};
export const words: string = `401 for ${byLook} of ${ours}: {"password":"${byKey}"}`;

/** Where one of them is to be seen. */
export const leakIn = (text: string): string | null =>
  /.{0,80}CANARY.{0,20}/s.exec(text)?.[0] ?? null;
