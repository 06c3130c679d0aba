import type { ReactElement } from 'react';
import type { Trace } from '../trace/trace.ts';
import { clockText } from './calendar.ts';
import { Glyph } from './glyphs.tsx';

/** Each message begins an execution; the trace shows one of them. */
export function ExecutionPicker({
  trace,
  onPick,
}: {
  readonly trace: Trace;
  /** Null: the newest, also when there is a newer one. */
  readonly onPick: (executionId: string | null) => void;
}): ReactElement | null {
  const { executions, executionId } = trace;
  if (executions.length < 2) return null;
  return (
    <span className="picker">
      <span aria-hidden="true">Execution</span>
      <select
        aria-label="Execution"
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
