/** Functions that end pending waits early with an error. */
export type Aborts = Set<(error: Error) => void>;

/**
 * Settles like the work, or rejects with `late` after `ms` milliseconds or with the error of an abort. The work itself
 * is not stopped.
 */
export async function inTime<T>(
  work: Promise<T>,
  ms: number,
  late: () => Error,
  aborts?: Aborts,
): Promise<T> {
  let end: () => void = () => {};
  const ended = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    aborts?.add(reject);
    end = () => {
      clearTimeout(timer);
      aborts?.delete(reject);
    };
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    end();
  }
}

/** Whether the work ends in that time. */
export async function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
