import fc from 'fast-check';

/** Runs as they could be: the tests make wire traffic of them, and know what the screen has to say in the end. */
export interface CallSpec {
  readonly end: 'ok' | 'error' | 'refused' | 'denied';
  readonly asks: boolean;
  readonly nested: readonly ('text' | 'tool' | 'approval' | 'fail')[] | null;
}
export interface StepSpec {
  /** `again`: a hook asks the model once more within the attempt. */
  readonly kind: 'fail' | 'again' | 'tools' | 'final';
  readonly chunks: readonly string[];
  readonly calls: readonly CallSpec[];
}
export interface ExecutionSpec {
  readonly inputs: readonly string[];
  /** One stretch up to a terminal status; more than one where a grant let it continue. */
  readonly stretches: readonly {
    readonly steps: readonly StepSpec[];
    readonly end: 'completed' | 'stopped' | 'failed' | 'cancelled';
  }[];
}

export type Preset = 'minimal' | 'noSteps' | 'standard' | 'debug';

const words = fc.constantFrom('Hello ', 'we have ', '7 lamps. ', '{"a":', ' ', 'é𝄞 ', 'x');
const callSpec = fc.record<CallSpec>({
  end: fc.constantFrom('ok', 'ok', 'error', 'refused', 'denied'),
  asks: fc.boolean(),
  nested: fc.option(
    fc.array(fc.constantFrom('text', 'tool', 'approval', 'fail'), { minLength: 1, maxLength: 3 }),
    { freq: 4 },
  ),
});
const stepSpec = (kinds: readonly StepSpec['kind'][]): fc.Arbitrary<StepSpec> =>
  fc.record<StepSpec>({
    kind: fc.constantFrom(...kinds),
    chunks: fc.array(words, { maxLength: 6 }),
    calls: fc.array(callSpec, { minLength: 1, maxLength: 3 }),
  });

export const sessionArb = (
  kinds: readonly StepSpec['kind'][] = ['fail', 'tools', 'tools', 'final'],
): fc.Arbitrary<readonly ExecutionSpec[]> =>
  fc.array(
    fc.record<ExecutionSpec>({
      inputs: fc.array(fc.constantFrom('Do we have lamps?', 'go', 'go'), {
        minLength: 1,
        maxLength: 2,
      }),
      stretches: fc.array(
        fc.record({
          steps: fc.array(stepSpec(kinds), { maxLength: 4 }),
          end: fc.constantFrom('completed', 'stopped', 'failed', 'cancelled'),
        }),
        { minLength: 1, maxLength: 2 },
      ),
    }),
    { minLength: 1, maxLength: 3 },
  );

export const presetArb: fc.Arbitrary<Preset> = fc.constantFrom(
  'minimal',
  'noSteps',
  'standard',
  'debug',
);
