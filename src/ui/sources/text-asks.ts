/** A worker in another process has nothing to tell: after so many answers the finished message is waited for. */
const MOST_IN_VAIN = 3;

export interface TextAsks {
  /** Whether pieces of a text are missing that may be asked for now. */
  isDue(): boolean;
  /** It was asked for, and is whole again or not. */
  asked(text: string, isWhole: boolean): void;
}

/** When a refill is worth asking for a text that lacks pieces: not at once again, and not for ever. */
export function textAsks(
  missing: () => string | null,
  { textMs = 1_000 }: { readonly textMs?: number | undefined },
): TextAsks {
  let text: string | null = null;
  let inVain = 0;
  let notBefore = 0;
  return {
    isDue() {
      const wanted = missing();
      if (wanted === null || performance.now() < notBefore) return false;
      return wanted !== text || inVain < MOST_IN_VAIN;
    },
    asked(about, isWhole) {
      inVain = isWhole ? 0 : about === text ? inVain + 1 : 1;
      text = about;
      notBefore = performance.now() + textMs * 4 ** Math.max(0, inVain - 1);
    },
  };
}
