import type { RunReporter } from './run-reporter.ts';

export interface HeldOutput extends RunReporter {
  /** From here on events wait; what it returns shows them. */
  hold(): () => void;
}

/** Keeps events back while a person is asked: they would be written over the question. */
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
