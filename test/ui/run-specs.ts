import fc from 'fast-check';

/** Random runs: the tests create envelopes from them and know the final rows. */
export interface CallSpec {
  readonly end: 'ok' | 'error' | 'refused' | 'denied';
  readonly asks: boolean;
  readonly nested: readonly ('text' | 'tool' | 'approval' | 'fail')[] | null;
}
export interface StepSpec {
  /** `again`: a hook calls the model again within the attempt. */
  readonly kind: 'fail' | 'again' | 'tools' | 'final';
  /** Chunks of reasoning, which only `debug` has. */
  readonly thoughts: readonly string[];
  readonly chunks: readonly string[];
  readonly calls: readonly CallSpec[];
}
export interface ExecutionSpec {
  readonly inputs: readonly string[];
  /** Runs up to a terminal status; several if a grant continues the execution. */
  readonly runs: readonly {
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
    thoughts: fc.array(words, { maxLength: 4 }),
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
      runs: fc.array(
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
