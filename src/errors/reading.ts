import type { Hiding } from './hiding.ts';
import type { KeyKind } from './secret-keys.ts';

export const REDACTED = '[redacted]';

/** A text while secrets are looked for in it. */
export interface Reading {
  readonly text: string;
  /** What lies before was hidden or belongs to something else. */
  readonly floor: number;
  /** Whether nothing more comes. */
  readonly isEnd: boolean;
  readonly kindOf: (key: string) => KeyKind;
}

/** A secret: what stands before `from` is shown, then the mark; `hiding` leaves out the rest, from `to` on. */
export interface Found {
  readonly from: number;
  readonly to: number;
  readonly mark: string;
  readonly hiding: Hiding | null;
}

/** A secret, or the place from which to look on; null while only more text can tell. */
export type ScanResult = Found | number | null;

export const found = (from: number, hiding: Hiding | null, to: number = from): Found => ({
  from,
  to,
  mark: REDACTED,
  hiding,
});

/** Where a sticky pattern ends that begins at `at`; `at` where it does not match. */
export function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
