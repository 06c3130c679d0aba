import { useCallback, useEffect, useState } from 'react';
import { problemOf, type ApiProblem } from '../api-problem.ts';

export interface Loaded<T> {
  /** Null while it loads. */
  readonly value: T | null;
  readonly problem: ApiProblem | null;
  readonly retry: () => void;
}

interface State<T> {
  readonly key: string;
  readonly value: T | null;
  readonly problem: ApiProblem | null;
}

/** Loads a value when its key changes. A value of another key is never shown. */
export function usePayload<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<State<T>>({ key, value: null, problem: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    load(signal)
      .then((value) => !signal.aborted && setState({ key, value, problem: null }))
      .catch((thrown: unknown) => {
        if (!signal.aborted) setState({ key, value: null, problem: problemOf(thrown) });
      });
    return () => controller.abort();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the key stands for what is loaded
  }, [key, round]);
  const retry = useCallback(() => setRound((count) => count + 1), []);
  const isCurrent = state.key === key;
  return {
    value: isCurrent ? state.value : null,
    problem: isCurrent ? state.problem : null,
    retry,
  };
}
