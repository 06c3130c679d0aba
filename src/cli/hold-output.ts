import type { RunReporter } from './run-reporter.ts';

export interface HeldOutput extends RunReporter {
  /** Holds events until the returned function is called, which shows them. */
  hold(): () => void;
}

/** Holds events back while the user is asked: they would overwrite the question. */
export function holdOutput(output: RunReporter): HeldOutput {
  let waiting: (readonly [...Parameters<RunReporter['event']>])[] | null = null;
  return {
    event: (...event) => void (waiting?.push(event) ?? output.event(...event)),
    note: (line) => output.note(line),
    rest: () => output.rest(),
    hold() {
      waiting = [];
      return () => {
        const held = waiting ?? [];
        waiting = null;
        for (const event of held) output.event(...event);
      };
    },
  };
}
