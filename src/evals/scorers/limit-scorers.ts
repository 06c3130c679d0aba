import { positive } from '../../errors/agent-error.ts';
import { countText, durationText, exactMoneyText, moneyText } from '../../number-text.ts';
import type { EvalRun } from '../eval-run.ts';
import { fail, pass, type Scorer } from '../score.ts';

interface Measure {
  readonly name: string;
  /** Null if it is unknown. */
  read(run: EvalRun): number | null;
  /** Writes what was used, and the limit. */
  text(value: number): string;
  readonly limitText?: (value: number) => string;
  /** What to do if it is unknown. */
  readonly unknown?: string;
}

/** The cost of a run, as scorers and matchers read it. */
export const costMeasure: Measure = {
  name: 'cost',
  read: ({ cost }) => cost,
  text: moneyText,
  limitText: exactMoneyText,
  unknown:
    'The cost is unknown, because the price of a model is. Set it with prices: { model: { input, output } }.',
};
const tokens: Measure = {
  name: 'tokens',
  read: ({ usage }) => usage.total,
  text: (value) => `${countText(value)} tokens`,
  limitText: countText,
};
const steps: Measure = {
  name: 'steps',
  read: ({ stepCount }) => stepCount,
  text: (value) => `${countText(value)} steps`,
  limitText: countText,
};
const seconds: Measure = {
  name: 'seconds',
  read: ({ durationMs }) => durationMs / 1000,
  text: (value) => durationText(value * 1000),
  limitText: (value) => `${countText(value)} s`,
};

const atMost =
  (measure: Measure, option: string) =>
  (max: number, { name = measure.name }: { readonly name?: string } = {}): Scorer => {
    positive(option, max);
    const { read, text, limitText = text, unknown = 'It is unknown.' } = measure;
    return {
      name,
      label: `${name} ≤ ${limitText(max)}`,
      score({ run }) {
        const used = read(run);
        if (used === null) return fail(unknown);
        return used <= max
          ? pass(`${text(used)} of at most ${limitText(max)}`)
          : fail(`Expected at most ${limitText(max)}. The run used ${text(used)}.`);
      },
    };
  };

type LimitScorer = (max: number, options?: { readonly name?: string }) => Scorer;

/** Passes if the run cost at most this many dollars. Fails if the price of a model is unknown. */
export const maxCost: LimitScorer = atMost(costMeasure, 'maxCost');
/** Passes if the run used at most this many tokens. */
export const maxTokens: LimitScorer = atMost(tokens, 'maxTokens');
/** Passes if the run took at most this many steps. */
export const maxSteps: LimitScorer = atMost(steps, 'maxSteps');
/** Passes if the run worked for at most this many seconds, without pauses. */
export const maxSeconds: LimitScorer = atMost(seconds, 'maxSeconds');
