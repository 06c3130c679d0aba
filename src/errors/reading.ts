import type { Hiding } from './hiding.ts';
import type { KeyKind } from './secret-keys.ts';

export const REDACTED = '[redacted]';

/** A text that is searched for secrets. */
export interface Reading {
  readonly text: string;
  /** Position before which everything was hidden or is decided. */
  readonly floor: number;
  /** Whether no more text follows. */
  readonly isEnd: boolean;
  readonly kindOf: (key: string) => KeyKind;
}

/** A secret: the text before `from` is shown, then the mark; `hiding` skips the rest, from `to` on. */
export interface Found {
  readonly from: number;
  readonly to: number;
  readonly mark: string;
  readonly hiding: Hiding | null;
}

/** A secret, or the position to continue from; null while more text is needed. */
export type ScanResult = Found | number | null;

export const found = (from: number, hiding: Hiding | null, to: number = from): Found => ({
  from,
  to,
  mark: REDACTED,
  hiding,
});

/** Returns the end of a sticky pattern that starts at `at`; `at` if it does not match. */
export function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
