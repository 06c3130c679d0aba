import { REDACTED } from './reading.ts';

/** Placeholders for a key that is not needed. */
const dummies = /* @__PURE__ */ (() =>
  new Set(
    (
      'none null nil undefined true false test testing dummy empty example placeholder key apikey api-key secret token password ' +
      'ollama lmstudio lm-studio vllm llama local localhost default unused no-key not-needed sk-no-key-required anything whatever ' +
      'changeme xxx xxxx foo bar abc 123 1234 12345'
    ).split(' '),
  ))();

/** Minimum characters: shorter ones are words, and parts of other words. */
const LONG = 16;

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/**
 * Hides secrets by their value, such as a key that a provider repeats in its error. A short one is hidden only as a
 * whole word, and a placeholder such as `none` is not a secret.
 */
export function withoutKnown(text: string, secrets: readonly string[]): string {
  const known = [...new Set(secrets.map((secret) => secret.trim()))]
    .filter((secret) => secret.length >= 4 && !dummies.has(secret.toLowerCase()))
    .filter((secret) => text.includes(secret))
    .toSorted((a, b) => b.length - a.length);
  return known.reduce(
    (output, secret) =>
      secret.length >= LONG
        ? output.replaceAll(secret, REDACTED)
        : output.replaceAll(
            new RegExp(`(?<![A-Za-z0-9])${escapeRegExp(secret)}(?![A-Za-z0-9])`, 'g'),
            REDACTED,
          ),
    text,
  );
}
