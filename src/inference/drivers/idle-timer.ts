import type { Clock } from '../../clock.ts';
import { modelCallFailed } from '../inference-error.ts';

/** How long a model call may keep silent. */
export interface Patience {
  /** Until the first byte of the answer. Default 120,000. */
  readonly firstTokenTimeoutMs?: number;
  /** Between two pieces of a streamed answer. Default 60,000. */
  readonly idleTimeoutMs?: number;
}

export const defaultPatience: Required<Patience> = {
  firstTokenTimeoutMs: 120_000,
  idleTimeoutMs: 60_000,
};

/** Settles like `work`, or fails as a timeout when nothing comes for `ms`. */
export function within<T>(work: Promise<T>, ms: number, what: string, clock: Clock): Promise<T> {
  if (!Number.isFinite(ms)) return work;
  return new Promise<T>((resolve, reject) => {
    const stop = clock.after(ms, () =>
      reject(
        modelCallFailed({
          type: 'timeout',
          code: 'idle_timeout',
          message: `The model sent ${what} for ${ms} ms.`,
        }),
      ),
    );
    work.then(
      (value) => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}
