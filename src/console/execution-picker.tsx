import type { ReactElement } from 'react';
import type { Trace } from '../trace/trace.ts';
import { clockText } from './calendar.ts';
import { Glyph } from './glyphs.tsx';

/**
 * Renders a picker of executions: each message starts one, and the trace shows one of them. The console calls them
 * runs.
 */
export function ExecutionPicker({
  trace,
  onPick,
}: {
  readonly trace: Trace;
  /** Selected execution; null follows the newest. */
  readonly onPick: (executionId: string | null) => void;
}): ReactElement | null {
  const { executions, executionId } = trace;
  if (executions.length < 2) return null;
  return (
    <span className="picker">
      <span aria-hidden="true">Run</span>
      <select
        aria-label="Run"
        value={executionId ?? ''}
        onChange={(event) => {
          const { value } = event.target;
          onPick(value === executions.at(-1)?.id ? null : value);
        }}
      >
        {executions.map(({ id, startedAt }, index) => (
          <option key={id} value={id}>
            {`${index + 1} of ${executions.length}${startedAt ? ` · ${clockText(new Date(startedAt))}` : ''}`}
          </option>
        ))}
      </select>
      <Glyph name="expand" size={11} />
    </span>
  );
}
