import { counted } from '../number-text.ts';
import { systemClock, type Clock } from '../clock.ts';
import { AgentError } from '../errors/agent-error.ts';
import { modelCallFailed } from '../inference/inference-error.ts';
import type {
  InferenceChunk,
  InferenceDriver,
  InferenceRequest,
  InferenceResponse,
} from '../inference/inference-driver.ts';
import { reportOf, responseOf, ScenarioStep, stepOfResponse } from './scenario-step.ts';

/** A request at the time of the call: `messageCount` stays, while `messages` is the live list. */
export interface RecordedRequest extends InferenceRequest {
  readonly messageCount: number;
  readonly streamed: boolean;
}

export interface DeterministicDriver extends InferenceDriver {
  readonly requests: readonly RecordedRequest[];
  readonly remaining: number;
  stream(
    request: InferenceRequest,
    options: { readonly signal: AbortSignal },
  ): AsyncIterable<InferenceChunk>;
}

export interface DeterministicOptions {
  /** Clock for answers with `delayMs`. Default: the system clock. */
  readonly clock?: Clock;
  /** Name of the driver, which steps store if the agent has fallback models. Default `deterministic`. */
  readonly name?: string;
  /** The provider's name of the model, for prices. */
  readonly model?: string;
}

/** Replays a script in order. A call past its end throws, so a test cannot pass on an invented answer. */
export const DeterministicDriver = {
  /** Creates a driver from texts, or from whole responses if more than the text matters. */
  fromResponses: (
    ...responses: readonly (string | Partial<InferenceResponse>)[]
  ): DeterministicDriver => create(responses.map(stepOfResponse)),

  fromSteps: (...steps: readonly (ScenarioStep | string)[]): DeterministicDriver =>
    create(steps.map((step) => (typeof step === 'string' ? ScenarioStep.final(step) : step))),

  create: (
    steps: readonly ScenarioStep[],
    options: DeterministicOptions = {},
  ): DeterministicDriver => create(steps, options),
} as const;

function create(
  steps: readonly ScenarioStep[],
  { clock = systemClock, name = 'deterministic', model }: DeterministicOptions = {},
): DeterministicDriver {
  const requests: RecordedRequest[] = [];
  let ids = 0;
  const nextId = (): string => `call_${++ids}`;

  const take = (request: InferenceRequest, streamed: boolean): ScenarioStep => {
    const step = steps[requests.length];
    requests.push({ ...request, messageCount: request.messages.length, streamed });
    if (step !== undefined) return step;
    throw new AgentError(
      'script_exhausted',
      `DeterministicDriver got call ${requests.length}, but its script has ${counted(steps.length, 'answer')}. ` +
        'Add a step to the script, or find out why the run continues.',
    );
  };
  const before = async ({ extras }: ScenarioStep, signal: AbortSignal): Promise<void> => {
    if (extras.hangs) await untilAborted(signal);
    if (extras.delayMs !== undefined) await delay(clock, extras.delayMs, signal);
  };
  const failure = ({ error, extras }: ScenarioStep): AgentError | null =>
    error
      ? modelCallFailed(error, {
          ...reportOf(extras),
          ...(extras.usage ? { usage: extras.usage } : null),
        })
      : null;

  return {
    name,
    ...(model !== undefined && { model }),
    requests,
    get remaining() {
      return Math.max(0, steps.length - requests.length);
    },
    async infer(request, { signal }): Promise<InferenceResponse> {
      const step = take(request, false);
      await before(step, signal);
      const failed = failure(step);
      if (failed) throw failed;
      return responseOf(step, nextId);
    },
    async *stream(request, { signal }): AsyncIterable<InferenceChunk> {
      const step = take(request, true);
      const { reasoning = '' } = step.extras;
      if (reasoning !== '') yield { type: 'reasoning', text: reasoning };
      for (const text of step.chunks ?? (step.content === '' ? [] : [step.content]))
        yield { type: 'content', text };
      await before(step, signal);
      const failed = failure(step);
      if (failed) throw failed;
      const response = responseOf(step, nextId);
      for (const [index, call] of response.toolCalls.entries()) {
        const text = call.argsRaw ?? JSON.stringify(call.args ?? {});
        const id = call.id ?? null;
        const middle = Math.ceil(text.length / 2);
        yield { type: 'tool_call', index, id, name: call.name, argsDelta: text.slice(0, middle) };
        yield { type: 'tool_call', index, argsDelta: text.slice(middle) };
      }
      if (response.usage) yield { type: 'usage', usage: response.usage };
      yield { type: 'done', response };
    },
  };
}

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });

const delay = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const cancel = clock.after(ms, resolve);
    signal.addEventListener('abort', () => {
      cancel();
      reject(signal.reason as Error);
    });
  });
