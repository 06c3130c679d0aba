import type { LiveOutput } from './live-output.ts';

export interface HeldOutput extends LiveOutput {
  /** From here on events wait; what it returns shows them. */
  hold(): () => void;
}

/** Keeps events back while a person is asked: they would be written over the question. */
export function holdOutput(output: LiveOutput): HeldOutput {
  let waiting: (readonly [...Parameters<LiveOutput['event']>])[] | null = null;
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
