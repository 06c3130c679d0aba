/**
 * Prints what telemetry() costs an agent while no OpenTelemetry SDK is registered: microseconds per step with it and
 * without it, in turn, with a model without latency. Never fails: figures are not tests.
 */
import { telemetry } from 'onward/telemetry';
import { interleaved } from './measure.mjs';
import { onwardLoop } from './scenario.mjs';

const BAR = 1.03;

for (const steps of [1, 10, 100, 1000]) {
  const sizes = { units: steps, warmUnits: 60_000, sampleUnits: 5_000, rounds: 121, digits: 3 };
  const figures = await interleaved(onwardLoop(steps, telemetry()), onwardLoop(steps), sizes);
  // the same agent twice: what differs here is the machine
  const { ratio: control } = await interleaved(onwardLoop(steps), onwardLoop(steps), sizes);
  const pass = figures.ratio <= BAR;
  const line = { case: 'telemetry without an SDK', steps, ...figures, control, pass };
  console.log(JSON.stringify(line));
}
