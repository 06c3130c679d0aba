import type { SessionStore } from 'onward/stores';

/** A store for a process that dies: after that it receives and writes nothing. */
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
