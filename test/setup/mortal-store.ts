import type { SessionStore } from 'onward';

/** The store as a process sees it that dies: from then on it hears and writes nothing. */
export function mortal(store: SessionStore): { readonly store: SessionStore; die(): void } {
  let isDead = false;
  const mortalStore = Object.fromEntries(
    Object.entries(store).map(([name, value]) => [
      name,
      typeof value === 'function'
        ? (...args: unknown[]) => (isDead ? new Promise(() => {}) : value(...args))
        : value,
    ]),
  ) as unknown as SessionStore;
  return { store: mortalStore, die: () => void (isDead = true) };
}
