import { useEffect, useRef } from 'react';

/**
 * Actions by key; names are those of `KeyboardEvent.key`, letters in lower case. Two keys in a row are written with a
 * space: `g o`.
 */
export type KeyActions = Readonly<Record<string, () => void>>;

/** The frame has the keys that no view uses. */
export type KeyScope = 'view' | 'frame';

/** Keys that focus a button, which a view marks with `data-key`. */
const focusKeys: Readonly<Record<string, string>> = {
  'g g': 'grant',
  a: 'approve',
  e: 'edit',
  d: 'deny',
  o: 'open',
};

/** Milliseconds in which the second of two keys follows the first. */
const sequenceMs = 1_500;

interface Handler {
  readonly scope: KeyScope;
  readonly actions: () => KeyActions;
}

/** The newest view comes first. */
const handlers = new Set<Handler>();
let first: { readonly key: string; readonly until: number } | null = null;

/** Handles keys: none acts on a run, and none works while the user types. A view comes before the frame. */
export function useKeys(actions: KeyActions, scope: KeyScope = 'view'): void {
  const now = useRef(actions);
  useEffect(() => {
    now.current = actions;
  });
  useEffect(() => {
    const handler: Handler = { scope, actions: () => now.current };
    if (handlers.size === 0) document.addEventListener('keydown', onKeyDown);
    handlers.add(handler);
    return () => {
      handlers.delete(handler);
      if (handlers.size === 0) document.removeEventListener('keydown', onKeyDown);
    };
  }, [scope]);
}

/** Opens the command palette with Command K or Control K, also while the user types. */
export function usePaletteKey(onOpen: () => void): void {
  const now = useRef(onOpen);
  useEffect(() => {
    now.current = onOpen;
  });
  useEffect(() => {
    const onPalette = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      if (event.altKey || event.shiftKey || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      now.current();
    };
    document.addEventListener('keydown', onPalette);
    return () => document.removeEventListener('keydown', onPalette);
  }, []);
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector('dialog[open]')) return;
  if (isTyping(event.target)) {
    // later keys are for the page
    if (event.key === 'Escape' && !event.isComposing) (event.target as HTMLElement).blur();
    return;
  }
  const key = event.key.toLowerCase();
  if (key === 'shift') return;
  const before = first !== null && first.until > event.timeStamp ? first.key : null;
  first = null;
  if (before !== null && handle(`${before} ${key}`)) return event.preventDefault();
  if (handle(key)) return event.preventDefault();
  if (isFirst(key)) first = { key, until: event.timeStamp + sequenceMs };
}

/** Runs the action of a key; returns whether there is one. */
function handle(key: string): boolean {
  for (const { actions } of ordered()) {
    const act = actions()[key];
    if (!act) continue;
    act();
    return true;
  }
  return focusOn(focusKeys[key]);
}

const isFirst = (key: string): boolean =>
  [focusKeys, ...ordered().map(({ actions }) => actions())].some((actions) =>
    Object.keys(actions).some((name) => name.startsWith(`${key} `)),
  );

const ordered = (): readonly Handler[] => {
  const newest = [...handlers].toReversed();
  return [
    ...newest.filter(({ scope }) => scope === 'view'),
    ...newest.filter(({ scope }) => scope === 'frame'),
  ];
};

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) &&
      !/^(checkbox|radio|button)$/.test((target as HTMLInputElement).type)));

/** Focuses the first enabled element. */
function focusOn(name: string | undefined): boolean {
  if (name === undefined) return false;
  const target = [...document.querySelectorAll<HTMLElement>(`[data-key="${name}"]`)].find(
    (element) => !element.matches(':disabled') && element.closest('[hidden]') === null,
  );
  target?.focus();
  return target !== undefined;
}
