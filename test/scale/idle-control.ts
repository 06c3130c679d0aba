import { spawn, type ChildProcess } from 'node:child_process';

/** Waits for a timer, again and again, and reports how long it waited for the machine in all. */
const program = `
  let late = 0;
  const next = () => {
    const due = performance.now() + 20;
    setTimeout(() => {
      late += Math.max(0, performance.now() - due - 1);
      next();
    }, 20);
  };
  next();
  setInterval(() => process.send({ at: performance.timeOrigin + performance.now(), late }), 100);
  process.on('disconnect', () => process.exit());
`;

interface Sample {
  /** Milliseconds of the clock that all processes share. */
  readonly at: number;
  readonly late: number;
}

/** An idle process beside a campaign: what it waits for the machine, workers wait too, whatever they do. */
export class IdleControl {
  readonly #child: ChildProcess;
  readonly #samples: Sample[] = [];

  constructor() {
    this.#child = spawn(process.execPath, ['-e', program], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child.on('message', (sample: Sample) => this.#samples.push(sample));
  }

  /** Milliseconds of this time, by the clock of this process, in which it waited for the machine. */
  lateBetween(from: number, to: number): number {
    const lateAt = (time: number): number =>
      this.#samples.findLast(({ at }) => at <= performance.timeOrigin + time)?.late ?? 0;
    return lateAt(to) - lateAt(from);
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }
}
