import { useKeys } from '../use-keys.ts';

/** Handles J and K, which move between the rows of a table, and X, which selects the row of the focus. */
export function useRowKeys(onSelect: (id: string) => void): void {
  const move = (by: number): void => {
    const links = [...document.querySelectorAll<HTMLElement>('[data-row] [data-row-link]')];
    const at = links.findIndex((link) =>
      link.closest('[data-row]')?.contains(document.activeElement),
    );
    links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    x: () => {
      const id = document.activeElement?.closest<HTMLElement>('[data-row]')?.dataset['row'];
      if (id !== undefined) onSelect(id);
    },
  });
}
