import { useState, type ReactElement } from 'react';
import type { JsonValue } from '../json.ts';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

type Fetched =
  | { readonly status: 'cut' | 'loading' }
  | { readonly status: 'failed'; readonly problem: string }
  | { readonly status: 'whole'; readonly whole: JsonValue };

export interface Whole {
  readonly whole: JsonValue | undefined;
  readonly status: Fetched['status'];
  readonly problem: string;
  /** Fetches the whole value. Absent if there is no way to fetch it. */
  readonly load: (() => void) | null;
}

/** Loads the whole of a truncated value on demand. Without a ref nothing is missing. */
export function useWhole(ref: string | undefined): Whole {
  const { fetchRef } = useUi();
  const [fetched, setFetched] = useState<Fetched>({ status: 'cut' });
  const load = (): void => {
    if (!fetchRef || ref === undefined || fetched.status === 'loading') return;
    setFetched({ status: 'loading' });
    fetchRef(ref).then(
      (whole) => setFetched({ status: 'whole', whole }),
      (error: unknown) =>
        setFetched({
          status: 'failed',
          problem: error instanceof Error ? error.message : String(error),
        }),
    );
  };
  return {
    whole: fetched.status === 'whole' ? fetched.whole : undefined,
    status: ref === undefined ? 'whole' : fetched.status,
    problem: fetched.status === 'failed' ? fetched.problem : '',
    load: fetchRef ? load : null,
  };
}

export interface CutNoteProps extends Omit<Whole, 'whole'> {
  readonly label: string;
}

/** Says that a part is missing, and offers the whole. */
export function CutNote({ status, problem, load, label }: CutNoteProps): ReactElement {
  const { labels } = useUi();
  return (
    <p {...part('note')} role={status === 'failed' ? 'alert' : undefined}>
      {status === 'failed' ? labels.failed(problem) : label}{' '}
      {load && (
        <button type="button" {...part('link')} aria-disabled={status === 'loading'} onClick={load}>
          {status === 'loading' ? labels.loading : labels.showAll}
        </button>
      )}
    </p>
  );
}
