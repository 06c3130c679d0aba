import { useEffect, useRef, type ReactElement } from 'react';
import type { TraceViewProps } from '../contract.ts';
import { Glyph } from '../glyphs.tsx';
import { statusText } from '../status-text.ts';

/** Renders the agents above a nested one, as buttons, and its own name; nothing for the session's own agent. */
export function Crumbs({ view }: { readonly view: TraceViewProps }): ReactElement | null {
  const { trace, onOpenAbove } = view;
  const { nested } = trace;
  const here = useRef<HTMLElement>(null);
  const callId = nested?.callId;
  // the button that opened this trace is gone
  useEffect(() => here.current?.focus({ preventScroll: true }), [callId]);
  if (!nested) return null;
  return (
    <nav className="trace-crumbs" aria-label="Agents above">
      <Glyph name="back" size={14} />
      <ol>
        {nested.above.map((ancestor) => (
          <li key={ancestor.callId ?? ''}>
            <button type="button" onClick={() => onOpenAbove(ancestor)}>
              <span dir="auto">{ancestor.agent}</span>
              {ancestor.step > 0 && <span className="muted"> step {ancestor.step}</span>}
            </button>
          </li>
        ))}
        <li>
          <b ref={here} tabIndex={-1} aria-current="page" dir="auto">
            {trace.agent}
          </b>
          <span className="muted">
            {' '}
            {statusText({ status: trace.status, stopReason: null, approvals: 0 })}
          </span>
        </li>
      </ol>
      <kbd>Esc</kbd>
    </nav>
  );
}
