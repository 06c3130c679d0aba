/** Closes the iterator without waiting, because a driver may hang. */
export function leaveStream(iterator: AsyncIterator<unknown>): void {
  const left = async (): Promise<unknown> => iterator.return?.();
  left().catch(() => {});
}
