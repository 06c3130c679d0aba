import { useEffect, useRef } from 'react';

/** Actions by key; names are those of `KeyboardEvent.key`, letters in lower case. */
export type KeyActions = Readonly<Record<string, () => void>>;

/** Keys that focus a button, which a view marks with `data-key`. */
const focusKeys: Readonly<Record<string, string>> = {
  g: 'grant',
  a: 'approve',
  e: 'edit',
  d: 'deny',
  o: 'open',
};

/** Handles single keys: none acts on a run, and none works while the user types. */
export function useKeys(actions: KeyActions): void {
  const now = useRef(actions);
  useEffect(() => {
    now.current = actions;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector('dialog[open]')) return;
      if (isTyping(event.target)) {
        // later keys are for the page
        if (event.key === 'Escape' && !event.isComposing) (event.target as HTMLElement).blur();
        return;
      }
      const key = event.key.toLowerCase();
      const act = now.current[key];
      if (act) {
        event.preventDefault();
        act();
      } else if (focusOn(focusKeys[key])) event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Focuses the first enabled element. */
function focusOn(name: string | undefined): boolean {
  if (name === undefined) return false;
  const target = [...document.querySelectorAll<HTMLElement>(`[data-key="${name}"]`)].find(
    (element) => !element.matches(':disabled') && element.closest('[hidden]') === null,
  );
  target?.focus();
  return target !== undefined;
}
