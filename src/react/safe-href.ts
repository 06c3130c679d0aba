/** Returns the target of a link if it is a page or an email address, else null, which renders as plain text. */
export function safeHref(target: string): string | null {
  if (!/^(?:https?:\/\/|mailto:)/i.test(target)) return null;
  try {
    return new URL(target).href;
  } catch {
    return null;
  }
}
