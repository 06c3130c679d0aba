import type { ErrorRecord, ErrorReport } from '../errors/error-record.ts';
import type { FinishReason, InferenceResponse } from '../inference/inference-driver.ts';
import type { ProviderReport } from '../inference/model-call-info.ts';
import type { Usage } from '../inference/usage.ts';
import type { JsonObject } from '../json.ts';

/** Parts of a scripted answer in addition to its text and calls. */
export interface ScenarioExtras extends ProviderReport {
  readonly usage?: Partial<Usage> | null;
  readonly cost?: number;
  readonly finishReason?: FinishReason | (string & {});
  readonly reasoning?: string;
  readonly refusal?: string;
  /** State that a provider expects back with the next call. */
  readonly metadata?: JsonObject;
  /** Milliseconds on the given clock before the answer. */
  readonly delayMs?: number;
  /** Whether it never answers; only an abort or a deadline ends it. */
  readonly hangs?: boolean;
}

export interface ScriptedCall {
  readonly name: string;
  readonly args?: JsonObject;
  /** Raw argument text, for arguments that cannot be read. */
  readonly argsRaw?: string;
  /** Call id. Default: `call_1`, `call_2`, … over the whole script. Null: the provider sent none. */
  readonly id?: string | null;
}

/** One answer of a scripted model. */
export interface ScenarioStep {
  readonly content: string;
  /** Chunks of the content when it is streamed. Default: one chunk. */
  readonly chunks?: readonly string[];
  readonly calls: readonly ScriptedCall[];
  /** Error that the call fails with, after `chunks` if there are any. */
  readonly error?: ErrorReport;
  readonly extras: ScenarioExtras;
}

export const ScenarioStep = {
  final: (content: string, extras: ScenarioExtras = {}): ScenarioStep => ({
    content,
    calls: [],
    extras,
  }),

  toolCall: (
    name: string,
    args: JsonObject = {},
    content: string = '',
    extras: ScenarioExtras = {},
  ): ScenarioStep => ({ content, calls: [{ name, args }], extras }),

  toolCalls: (
    calls: readonly ScriptedCall[],
    content: string = '',
    extras: ScenarioExtras = {},
  ): ScenarioStep => ({ content, calls, extras }),

  /** Creates a failed model call; a plain message is an error of type `model`. */
  error: (
    error: Partial<ErrorRecord> | string,
    extras: ScenarioExtras & { readonly chunks?: readonly string[] } = {},
  ): ScenarioStep => ({
    content: '',
    calls: [],
    error: {
      type: 'model',
      code: 'scripted',
      message: 'scripted error',
      ...(typeof error === 'string' ? { message: error } : error),
    },
    ...(extras.chunks ? { chunks: extras.chunks } : null),
    extras,
  }),

  /** Creates a final answer that arrives in chunks. */
  stream: (chunks: readonly string[], extras: ScenarioExtras = {}): ScenarioStep => ({
    content: chunks.join(''),
    chunks,
    calls: [],
    extras,
  }),
} as const;

/** Default usage, so that limits and sums have something to count. */
const SCRIPTED_USAGE: Partial<Usage> = Object.freeze({ input: 10, output: 5, total: 15 });

export function responseOf(step: ScenarioStep, nextId: () => string): InferenceResponse {
  const { extras, calls, content } = step;
  return {
    content,
    toolCalls: calls.map(({ id, ...call }) => ({ ...call, id: id === undefined ? nextId() : id })),
    finishReason: extras.finishReason ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    usage: extras.usage === undefined ? SCRIPTED_USAGE : extras.usage,
    cost: extras.cost ?? null,
    reasoning: extras.reasoning ?? null,
    refusal: extras.refusal ?? null,
    ...reportOf(extras),
    ...(extras.metadata ? { metadata: extras.metadata } : null),
  };
}

/** Returns what a scripted provider reports about the call. */
export function reportOf({
  model,
  requestId,
  warnings,
  rawFinishReason,
}: ProviderReport): ProviderReport {
  return {
    ...(model === undefined ? null : { model }),
    ...(requestId === undefined ? null : { requestId }),
    ...(warnings === undefined ? null : { warnings }),
    ...(rawFinishReason === undefined ? null : { rawFinishReason }),
  };
}

export function stepOfResponse(response: string | Partial<InferenceResponse>): ScenarioStep {
  if (typeof response === 'string') return ScenarioStep.final(response);
  const { content = '', toolCalls = [], finishReason, usage, cost, reasoning, refusal } = response;
  const { metadata } = response;
  return {
    content,
    calls: toolCalls as readonly ScriptedCall[], // the loop refuses arguments that are not an
    // object
    extras: {
      ...(finishReason === undefined ? null : { finishReason }),
      ...(usage === undefined ? null : { usage }),
      ...(cost == null ? null : { cost }),
      ...(reasoning == null ? null : { reasoning }),
      ...(refusal == null ? null : { refusal }),
      ...reportOf(response),
      ...(metadata === undefined ? null : { metadata }),
    },
  };
}
