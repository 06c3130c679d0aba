/** Groups that are written at the same time. More would be smaller, and cost the server more per commit. */
const AT_ONCE = 2;
/** How long a commit that is written alone counts as one of them, in milliseconds. */
const LONGEST_TURN_MS = 20;
const MOST_COMMITS = 64;
/** Most characters of a group, so that no commit waits long for large ones. */
const MOST_CHARACTERS = 1_000_000;

export interface GroupWriter<T, Receipt> {
  /** A group has at most one commit with the same key. */
  keyOf(commit: T): string;
  sizeOf(commit: T): number;
  /** Writes all or none, without a long wait. Returns null if each is to be written alone; rejects if that cannot help. */
  write(commits: readonly T[]): Promise<readonly Receipt[] | null>;
  writeAlone(commit: T): Promise<Receipt>;
}

interface Entry<T, Receipt> {
  readonly commit: T;
  resolve(receipt: Receipt | PromiseLike<Receipt>): void;
  reject(error: unknown): void;
}

/**
 * Writes commits in groups, without a wait: a commit is written at once if few others are being written. Otherwise those
 * that arrive meanwhile are the next group.
 */
export function commitGroups<T, Receipt>(
  writer: GroupWriter<T, Receipt>,
): { add(commit: T): Promise<Receipt> } {
  let waiting: Entry<T, Receipt>[] = [];
  let running = 0;
  let isPlanned = false;

  const plan = (): void => {
    if (isPlanned || running >= AT_ONCE || waiting.length === 0) return;
    isPlanned = true;
    // commits of the same tick go together
    queueMicrotask(() => {
      isPlanned = false;
      start();
    });
  };

  const start = (): void => {
    const group = take();
    const [only] = group;
    if (!only) return;
    running += 1;
    plan();
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      running -= 1;
      plan();
    };
    if (group.length > 1) return void writeGroup(group).finally(end);
    const alone = writer.writeAlone(only.commit);
    only.resolve(alone);
    // one that waits for a locked row must not delay the others
    const timer = setTimeout(end, LONGEST_TURN_MS);
    void alone
      .catch(() => {})
      .finally(() => {
        clearTimeout(timer);
        end();
      });
  };

  const writeGroup = async (group: readonly Entry<T, Receipt>[]): Promise<void> => {
    try {
      const receipts = await writer.write(group.map(({ commit }) => commit));
      for (const [i, { commit, resolve }] of group.entries())
        resolve(receipts?.[i] ?? writer.writeAlone(commit));
    } catch (error) {
      for (const entry of group) entry.reject(error);
    }
  };

  /** Removes the next group, which has at least one commit, and leaves the others in their order. */
  const take = (): readonly Entry<T, Receipt>[] => {
    const group: Entry<T, Receipt>[] = [];
    const left: Entry<T, Receipt>[] = [];
    const keys = new Set<string>();
    let size = 0;
    for (const entry of waiting) {
      const key = writer.keyOf(entry.commit);
      const ownSize = writer.sizeOf(entry.commit);
      const fits =
        group.length === 0 || (group.length < MOST_COMMITS && size + ownSize <= MOST_CHARACTERS);
      if (!fits || keys.has(key)) left.push(entry);
      else group.push(entry);
      if (fits) size += ownSize;
      keys.add(key);
    }
    waiting = left;
    return group;
  };

  return {
    add: (commit) =>
      new Promise((resolve, reject) => {
        waiting.push({ commit, resolve, reject });
        plan();
      }),
  };
}
