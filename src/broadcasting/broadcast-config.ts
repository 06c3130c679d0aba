import { invalidOption, whole } from '../errors/agent-error.ts';

export interface BroadcastSettings {
  /** Chunks of text and of tool arguments while they are made. */
  readonly includeStream: boolean;
  readonly includeSteps: boolean;
  /** Tool calls and approvals. */
  readonly includeTools: boolean;
  readonly includeContinuationTrace: boolean;
  /** Whole arguments with `agent.tool.started`; an approval always has them. */
  readonly includeToolArgs: boolean;
  /** The model's reasoning: `agent.reasoning.chunk` while it is made (with `includeStream`), and on `agent.message`. */
  readonly includeReasoning: boolean;
  /** Characters of a summary. */
  readonly maxArgLength: number;
  readonly maxResultLength: number;
  /** The largest request that carries one envelope. */
  readonly frameBytes: number;
  /** Envelopes that wait for a slow transport. */
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

/** Which envelopes are sent, and how large they may be. */
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

  /** Standard, but for what is given. */
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

  /** Status and messages. */
  static minimal(settings: Partial<BroadcastSettings> = {}): BroadcastConfig {
    return new BroadcastConfig({ ...minimal, ...settings });
  }

  /** Also steps, tools, approvals and text while it is made. */
  static standard(settings: Partial<BroadcastSettings> = {}): BroadcastConfig {
    return new BroadcastConfig({ ...standard, ...settings });
  }

  /** Also every outcome with all its evaluations, whole arguments, and the model's reasoning. */
  static debug(settings: Partial<BroadcastSettings> = {}): BroadcastConfig {
    return new BroadcastConfig({ ...debug, ...settings });
  }
}
