const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** "512 bytes", "1.4 MB": thousands, as file managers count. */
export function bytesText(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${UNITS[power]}`;
}
