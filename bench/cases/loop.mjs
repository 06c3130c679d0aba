import { interleaved } from '../measure.mjs';
import { bareLoop, onwardLoop } from '../scenario.mjs';

const WARM_STEPS = 60_000;
const SAMPLE_STEPS = 5_000;
const ROUNDS = 61;

/** Overhead of `run()` per step, against the same loop written by hand. */
export async function* loop() {
  for (const steps of [10, 100, 1000, 5000]) {
    const figures = await interleaved(onwardLoop(steps), bareLoop(steps), {
      units: steps,
      warmUnits: WARM_STEPS,
      sampleUnits: SAMPLE_STEPS,
      rounds: ROUNDS,
    });
    yield { case: 'loop', steps, ...figures };
  }
}
