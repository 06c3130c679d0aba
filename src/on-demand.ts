const loading = new Set<Promise<unknown>>();

/** Waits for the `import()` of a module that only some runs need. A fake clock waits for it too. */
export async function onDemand<T>(load: Promise<T>): Promise<T> {
  loading.add(load);
  try {
    return await load;
  } finally {
    loading.delete(load);
  }
}

/** Whether a module is being loaded: what waits for it continues without a timer. */
export const isLoading = (): boolean => loading.size > 0;
