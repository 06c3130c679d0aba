/** Puts the focus into the first field of a form that has just opened, and shows it with its buttons. */
export function enter(field: HTMLInputElement | HTMLTextAreaElement | null): void {
  field?.focus();
  field?.form?.scrollIntoView({ block: 'nearest' });
}
