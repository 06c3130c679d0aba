import { useEffect, useRef } from 'react';
import type { TraceRow } from './trace-rows.ts';
import { stepFor } from './step-keys.ts';

/** Handles J and K wherever the focus is, except in a text field. */
export function useStepKeys(
  rows: readonly TraceRow[],
  at: number,
  onSelect: (number: number) => void,
): void {
  const now = useRef({ rows, at, onSelect });
  useEffect(() => {
    now.current = { rows, at, onSelect };
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || !/^[jk]$/i.test(event.key) || isWriting(event.target)) return;
      const next = stepFor(event, now.current.rows, now.current.at);
      if (next === null) return;
      event.preventDefault();
      now.current.onSelect(next);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:input|textarea|select)$/i.test(target.tagName));
