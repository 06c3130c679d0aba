import { pointerTo } from '../json-pointer.ts';
import { visibleText } from '../visible-text.ts';

/** Describes where arguments have hidden values; null if they have none. */
export function hiddenText(hidden: readonly string[] = []): string | null {
  if (hidden.length === 0) return null;
  if (hidden.includes('')) return 'Parts of the arguments are hidden from view.';
  return `Hidden from view: ${hidden.map(visibleText).join(', ')}.`;
}

/** Whether a value at an argument, or below it, is or may be hidden. */
export function isHiddenAt(hidden: readonly string[] | undefined, name: string): boolean {
  const at = pointerTo('', name);
  return hidden?.some((path) => path === '' || path === at || path.startsWith(`${at}/`)) ?? false;
}
