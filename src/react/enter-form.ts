/** Focuses the first field of a form that has just opened, and scrolls its buttons into view. */
export function enter(field: HTMLInputElement | HTMLTextAreaElement | null): void {
  field?.focus();
  field?.form?.scrollIntoView({ block: 'nearest' });
}
