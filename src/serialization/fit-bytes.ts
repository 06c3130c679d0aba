import { AgentError } from '../errors/agent-error.ts';
import type { SlimLimits } from './slim-serialization-config.ts';
import type { SlimState } from './slim-state.ts';

type Write = (limits: SlimLimits) => SlimState;

const bytesOf = (slim: SlimState): number => new TextEncoder().encode(JSON.stringify(slim)).length;

/** Removes as little as needed: older turns with their steps, then finished steps, then text, then arguments. */
export function fitBytes(write: Write, limits: SlimLimits, maxBytes: number): SlimState {
  const whole = write(limits);
  const size = bytesOf(whole);
  if (size <= maxBytes) return whole;
  const fits = (slim: SlimState): boolean => bytesOf(slim) <= maxBytes;
  const turns = whole.messages.filter(({ role }) => role === 'user').length;
  const longest = Math.min(limits.maxContentLength ?? size, size);

  const newestTurn: SlimLimits = { ...limits, maxTurns: 1 };
  const currentStep: SlimLimits = {
    ...newestTurn,
    includeAllSteps: false,
    includeCurrentStep: limits.includeAllSteps || limits.includeCurrentStep,
    includeContinuationTrace: false,
  };
  const noArgs: SlimLimits = { ...currentStep, includeToolArgs: false };
  const shortened = (base: SlimLimits) =>
    largest(0, longest, (length) => write({ ...base, maxContentLength: length }), fits);

  const fitting =
    largest(1, turns, (maxTurns) => write({ ...limits, maxTurns }), fits) ??
    accepted(write(currentStep), fits) ??
    shortened(currentStep) ??
    shortened(noArgs);
  if (fitting) return fitting;
  const least = bytesOf(write({ ...noArgs, maxContentLength: 0 }));
  throw new AgentError(
    'state_too_large',
    `This state takes ${size} bytes in its slim form, and still ${least} with only the newest turn, without ` +
      `texts and arguments; maxBytes allows ${maxBytes}. Raise maxBytes, or keep less metadata and fewer ` +
      'system messages in the state.',
    { details: { bytes: size, leastBytes: least, maxBytes } },
  );
}

const accepted = (slim: SlimState, fits: (slim: SlimState) => boolean): SlimState | null =>
  fits(slim) ? slim : null;

/** Finds the largest number from `low` to `high` whose document fits. Documents grow with the number. */
function largest(
  low: number,
  high: number,
  write: (n: number) => SlimState,
  fits: (slim: SlimState) => boolean,
): SlimState | null {
  let best: SlimState | null = null;
  for (let [from, to] = [low, high]; from <= to;) {
    const middle = Math.floor((from + to) / 2);
    const slim = write(middle);
    if (fits(slim)) [best, from] = [slim, middle + 1];
    else to = middle - 1;
  }
  return best;
}
