import { onTestFinished, vi, type Mock } from 'vitest';

const broken = (): Error => new Error('listener broke');

/** Ways in which a listener fails, for `it.each`. */
export const failingListeners: readonly (readonly [string, () => unknown])[] = [
  [
    'throws',
    () => {
      throw broken();
    },
  ],
  ['rejects', () => Promise.reject(broken())],
  [
    'returns a foreign promise that rejects',
    () => ({
      // oxlint-disable-next-line unicorn/no-thenable -- promise libraries make such objects
      then: (_resolve: unknown, reject: (error: Error) => void) => reject(broken()),
    }),
  ],
];

/** Captures console errors and unhandled rejections. */
export function watchFailures(): { readonly reports: Mock; readonly unhandled: Mock } {
  const reports = vi.spyOn(console, 'error').mockImplementation(() => {});
  const unhandled = vi.fn<(reason: unknown) => void>();
  process.on('unhandledRejection', unhandled);
  onTestFinished(() => {
    process.off('unhandledRejection', unhandled);
    reports.mockRestore();
  });
  return { reports, unhandled };
}

/** Resolves after unhandled rejections were reported. */
export const rejectionsReported = (): Promise<void> =>
  new Promise((resolve) => void setImmediate(resolve));
