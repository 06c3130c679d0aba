/** Formats an ISO time as "2026-01-16 12:00:45 UTC", rounded up to the next second. */
export function timeText(iso: string): string {
  const seconds = Math.ceil(Date.parse(iso) / 1000);
  const whole = Number.isNaN(seconds) ? iso : new Date(seconds * 1000).toISOString();
  return `${whole.slice(0, 10)} ${whole.slice(11, 19)} UTC`;
}
