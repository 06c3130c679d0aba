const loading = new Set<Promise<unknown>>();

/** Loads a module that only some runs need: `onDemand(import('./…'))`. A fake clock waits for it. */
export async function onDemand<T>(load: Promise<T>): Promise<T> {
  loading.add(load);
  try {
    return await load;
  } finally {
    loading.delete(load);
  }
}

/** Whether a module is being loaded: what waits for it goes on without a timer. */
export const isLoading = (): boolean => loading.size > 0;
