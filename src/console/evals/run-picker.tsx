import { useEffect, useState, type ReactElement } from 'react';
import type { EvalSuite, EvalSummary } from '../../evals/eval-reports.ts';
import { Glyph } from '../glyphs.tsx';
import { runText } from './eval-text.ts';

export interface RunPickerProps {
  readonly suites: readonly EvalSuite[];
  /** Null if the address names an unknown one. */
  readonly suite: EvalSuite | null;
  readonly number: number | null;
  readonly baseline: number | null;
  readonly onSuite: (name: string) => void;
  readonly onRun: (number: number) => void;
  readonly onBaseline: (number: number | null) => void;
}

/** Renders the choice of suite, run and baseline, and the command that runs the suite again. */
export function RunPicker(props: RunPickerProps): ReactElement {
  const { suites, suite, number, baseline, onSuite, onRun, onBaseline } = props;
  const [now] = useState(() => new Date());
  const runs = suite?.runs ?? [];
  const option = (run: EvalSummary): ReactElement => (
    <option key={run.number} value={run.number}>
      {runText(run, now)}
    </option>
  );
  return (
    <div className="evals-bar">
      <label>
        Suite
        <select value={suite?.name ?? ''} onChange={(event) => onSuite(event.target.value)}>
          {suite === null && <option value="">not found</option>}
          {suites.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        Run
        <select value={number ?? ''} onChange={(event) => onRun(Number(event.target.value))}>
          {!runs.some((run) => run.number === number) && (
            <option value={number ?? ''}>{number === null ? 'none' : `#${number}`}</option>
          )}
          {runs.map(option)}
        </select>
      </label>
      <label>
        Baseline
        <select
          value={baseline ?? ''}
          onChange={(event) =>
            onBaseline(event.target.value === '' ? null : Number(event.target.value))
          }
        >
          <option value="">none</option>
          {runs.filter((run) => run.number !== number).map(option)}
        </select>
      </label>
      {suite && <CopyCommand command={`npx onward eval ${suite.name}`} />}
    </div>
  );
}

const SHOWN_MS = 2_000;

/** Copies the command: the console itself runs no code of the project. */
function CopyCommand({ command }: { readonly command: string }): ReactElement {
  const [said, setSaid] = useState<string | null>(null);
  useEffect(() => {
    if (said === null) return undefined;
    const timer = setTimeout(() => setSaid(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(command);
      setSaid('Copied');
    } catch {
      setSaid('Not copied');
    }
  };
  return (
    <button
      type="button"
      className="button evals-again"
      title={command}
      onClick={() => void copy()}
    >
      <Glyph name="reload" size={13} />
      <span role="status">{said ?? 'Copy command to run again'}</span>
    </button>
  );
}
