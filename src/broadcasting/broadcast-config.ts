import { invalidOption, whole } from '../errors/agent-error.ts';

export interface BroadcastSettings {
  /** Whether to send text and tool arguments in chunks while the model writes them. */
  readonly includeStream: boolean;
  readonly includeSteps: boolean;
  /** Whether to send tool calls and approvals. */
  readonly includeTools: boolean;
  readonly includeContinuationTrace: boolean;
  /** Whether `agent.tool.started` has the whole arguments. An approval always has them. */
  readonly includeToolArgs: boolean;
  /**
   * Whether to send the model's reasoning: `agent.reasoning.chunk` (with `includeStream`), and a field of
   * `agent.message`.
   */
  readonly includeReasoning: boolean;
  /** Characters of a summary of arguments. Default 200. */
  readonly maxArgLength: number;
  readonly maxResultLength: number;
  /** Bytes of the largest request that carries one envelope. Default 10,000. */
  readonly frameBytes: number;
  /** Envelopes that may wait for a slow transport. Default 1,000. */
  readonly queueSize: number;
}

const minimal: BroadcastSettings = {
  includeStream: false,
  includeSteps: false,
  includeTools: false,
  includeContinuationTrace: false,
  includeToolArgs: false,
  includeReasoning: false,
  maxArgLength: 200,
  maxResultLength: 500,
  frameBytes: 10_000,
  queueSize: 1_000,
};
const standard = { includeStream: true, includeSteps: true, includeTools: true };
const debug = {
  ...standard,
  includeContinuationTrace: true,
  includeToolArgs: true,
  includeReasoning: true,
};

/** Selects which envelopes are sent, and limits their size. */
export class BroadcastConfig implements BroadcastSettings {
  readonly includeStream: boolean;
  readonly includeSteps: boolean;
  readonly includeTools: boolean;
  readonly includeContinuationTrace: boolean;
  readonly includeToolArgs: boolean;
  readonly includeReasoning: boolean;
  readonly maxArgLength: number;
  readonly maxResultLength: number;
  readonly frameBytes: number;
  readonly queueSize: number;

  /** Starts from the standard preset and applies `settings`. */
  constructor(settings: Partial<BroadcastSettings> = {}) {
    const all = { ...minimal, ...standard, ...settings };
    for (const [name, value] of Object.entries(all)) {
      if (!(name in minimal))
        throw invalidOption(
          `BroadcastConfig ${name}`,
          value,
          `one of ${Object.keys(minimal).join(', ')}`,
        );
      if (name.startsWith('include')) {
        if (typeof value !== 'boolean')
          throw invalidOption(`BroadcastConfig ${name}`, value, 'true or false');
      } else whole(`BroadcastConfig ${name}`, value as number);
    }
    this.includeStream = all.includeStream;
    this.includeSteps = all.includeSteps;
    this.includeTools = all.includeTools;
    this.includeContinuationTrace = all.includeContinuationTrace;
    this.includeToolArgs = all.includeToolArgs;
    this.includeReasoning = all.includeReasoning;
    this.maxArgLength = all.maxArgLength;
    this.maxResultLength = all.maxResultLength;
    this.frameBytes = all.frameBytes;
    this.queueSize = all.queueSize;
    Object.freeze(this);
  }

  /** Sends status and messages. */
  static minimal(settings: Partial<BroadcastSettings> = {}): BroadcastConfig {
    return new BroadcastConfig({ ...minimal, ...settings });
  }

  /** Adds steps, tools, approvals and streamed text. */
  static standard(settings: Partial<BroadcastSettings> = {}): BroadcastConfig {
    return new BroadcastConfig({ ...standard, ...settings });
  }

  /** Adds every outcome with all its evaluations, whole arguments, and the model's reasoning. */
  static debug(settings: Partial<BroadcastSettings> = {}): BroadcastConfig {
    return new BroadcastConfig({ ...debug, ...settings });
  }
}
