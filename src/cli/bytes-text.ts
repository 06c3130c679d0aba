const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** Formats "512 bytes" or "1.4 MB" in powers of 1,000. */
export function bytesText(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${UNITS[power]}`;
}
