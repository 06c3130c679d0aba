import type {
  Harness,
  HarnessRun,
  JsonValue as TheirJson,
  Judge,
  JudgeContext,
  JudgeHarness,
  JudgeResult,
} from 'vitest-evals';
import { createAgent } from '../../agent/agent.ts';
import { AgentError } from '../../errors/agent-error.ts';
import { ErrorPolicy } from '../../errors/error-policy.ts';
import type { ModelInput } from '../../inference/model-registry.ts';
import { isRecord, toJsonValue, type JsonObject } from '../../json.ts';
import type { EvalCase } from '../eval-case.ts';
import { evalHarness, type HarnessOptions } from '../eval-harness.ts';
import { linkedRun, linkRun } from '../eval-matchers.ts';
import type { EvalRun } from '../eval-run.ts';
import type { Scorer } from '../score.ts';
import { shortText } from '../call-text.ts';

/** A case without a name, or the user's message. */
export type VitestEvalsInput = string | (Omit<EvalCase, 'name'> & { readonly name?: string });

/** Name of the harness in the reports of `vitest-evals`. */
interface Named {
  readonly name: string;
}

/** The harness of an agent for `vitest-evals`. */
export type VitestEvalsHarness = Harness<VitestEvalsInput>;
/** A judge of its runs. */
export type VitestEvalsJudge = Judge<
  JudgeContext<VitestEvalsInput, TheirJson | undefined, VitestEvalsHarness | undefined>
>;

/** Creates a harness for `describeEval` of `vitest-evals`. The matchers of `onward/evals/vitest` accept its runs too. */
export function vitestEvalsHarness<Deps = {}>(
  options: HarnessOptions<Deps> & Named,
): VitestEvalsHarness {
  const { name } = options;
  const harness = evalHarness(options);
  return {
    name,
    async run(input, { signal }) {
      const evalCase = typeof input === 'string' ? { name: input, input } : { name, ...input };
      const run = await harness.run(evalCase, { ...(signal && { signal }) });
      const theirs = harnessRunOf(run);
      linkRun(theirs.session, run);
      inputs.set(run, evalCase);
      return linkRun(theirs, run);
    },
  };
}

const inputs = new WeakMap<EvalRun, EvalCase>();

/** Creates a judge for `vitest-evals` from a scorer. It judges runs of {@link vitestEvalsHarness}. */
export const vitestEvalsJudge = (scorer: Scorer): VitestEvalsJudge => ({
  name: scorer.name,
  async assess({ run: theirs }): Promise<JudgeResult> {
    const run = linkedRun(theirs) ?? linkedRun(theirs.session);
    if (!run)
      throw new AgentError(
        'invalid_option',
        `The judge ${JSON.stringify(scorer.name)} got a run of another harness, expected one of vitestEvalsHarness.`,
      );
    const evalCase = inputs.get(run) ?? { name: scorer.name, input: run.input };
    const { signal } = new AbortController();
    const { status, score, reason, step } = await scorer.score({ run, case: evalCase, signal });
    return {
      // a score below the scorer's own threshold fails, whatever the threshold of the suite
      score: status === 'skip' ? null : status === 'pass' ? 1 : Math.min(score ?? 0, BELOW),
      metadata: {
        rationale: reason,
        ...(score !== null && { output: score }),
        ...(step !== undefined && { step }),
      },
    };
  },
});

const BELOW = 0.999_999;

/** Lets a model answer the prompts of judges of `vitest-evals`, such as `FactualityJudge`. */
export function vitestEvalsJudgeHarness(model: ModelInput): JudgeHarness {
  return {
    name: 'onward',
    async run({ system, prompt, responseFormat }, { signal }) {
      const schema = isRecord(responseFormat?.schema)
        ? (responseFormat.schema as JsonObject)
        : null;
      const agent = createAgent({
        name: 'judge',
        model,
        errorPolicy: ErrorPolicy.production(),
        maxSteps: 5,
        ...(system !== undefined && { systemPrompt: system }),
        ...(schema && { responseFormat: schema }),
      });
      const state = await agent.run(prompt, { ...(signal && { signal }) });
      const { output, stopReason } = state;
      if (stopReason === 'completed' && output !== null) {
        const answer = toJsonValue(output) as TheirJson; // the same shape, without readonly
        return {
          output: answer,
          session: { events: [{ type: 'message', role: 'assistant', content: answer }] },
          usage: usageOf(state),
          errors: [],
        };
      }
      throw new AgentError(
        'model_call_failed',
        `The judge gave no answer: ${shortText(state.lastContinuationOutcome?.explain() ?? '', 400)}`,
      );
    },
  };
}

/** Returns a run in the form of `vitest-evals`, for its reporters and judges. */
export function harnessRunOf(run: EvalRun): HarnessRun {
  const { output, outputText, calls, explanation, stopReason, status } = run;
  const answer = json(output ?? outputText);
  return {
    ...(answer !== undefined && { output: answer }),
    session: {
      events: [
        { type: 'message', role: 'user', content: run.input },
        ...calls.flatMap((call, i): HarnessRun['session']['events'] => {
          const { tool: name, args, result, error, kind, durationMs, step } = call;
          const id = `call_${i + 1}`;
          const content = json(result);
          return [
            {
              type: 'tool_call',
              id,
              name,
              arguments: json(args) as Record<string, TheirJson>, // an object
              metadata: { step, kind },
            },
            ...(kind === 'waiting'
              ? []
              : [
                  {
                    type: 'tool_result' as const,
                    toolCallId: id,
                    name,
                    durationMs,
                    ...(kind === 'ok'
                      ? { ...(content !== undefined && { content }) }
                      : { error: { message: error ?? kind, type: kind } }),
                  },
                ]),
          ];
        }),
        { type: 'message', role: 'assistant', ...(answer !== undefined && { content: answer }) },
      ],
      metadata: { stopReason: stopReason ?? status, explanation },
    },
    usage: usageOf(run, calls.length),
    timings: { totalMs: run.durationMs },
    errors: [],
  };
}

const json = (value: unknown): TheirJson | undefined =>
  value === undefined || value === null ? undefined : (toJsonValue(value) as TheirJson); // the same shape

const usageOf = (
  { usage, cost }: Pick<EvalRun, 'usage' | 'cost'>,
  toolCalls: number = 0,
): HarnessRun['usage'] => ({
  inputTokens: usage.input,
  outputTokens: usage.output,
  reasoningTokens: usage.reasoning,
  totalTokens: usage.total,
  toolCalls,
  metadata: { cost },
});
