import type { ModelInput } from 'onward';
import type { AiSdkOptions } from 'onward/drivers/ai-sdk';
import type { BodyCheck } from './provider-checks.ts';

export type Json = Record<string, unknown>;

export interface SaidCall {
  readonly name: string;
  readonly args?: string | Json;
  /** Default: one of its answer and its position. */
  readonly id?: string;
}

/** A model answer, independent of any provider. */
export interface Said {
  readonly thought?: string;
  readonly text?: string;
  readonly calls?: readonly SaidCall[];
  readonly finish?: 'length' | 'content_filter' | 'refusal';
  /** Sends nothing after the text and leaves the connection open. */
  readonly hangs?: true;
  /** Breaks the connection after the text. */
  readonly breaks?: true;
  /** Fails with this status instead. */
  readonly status?: number;
}

export interface Numbered extends Said {
  readonly n: number;
}

/** Options that both drivers have. */
export type WireOptions = Pick<AiSdkOptions, 'clock' | 'firstTokenTimeoutMs' | 'idleTimeoutMs'>;

/** The API of a provider. */
export interface Wire {
  readonly name: string;
  model(fetch: typeof globalThis.fetch, options?: WireOptions): ModelInput;
  readonly problem: BodyCheck;
  whole(said: Numbered): Json;
  /** The events up to the end of the text, and the rest. */
  stream(said: Numbered): readonly [readonly Json[], readonly Json[]];
  /** Item ids that later requests may refer to once the answer is complete. */
  stores(said: Numbered): readonly string[];
}

export const argsText = (args: string | Json = {}): string =>
  typeof args === 'string' ? args : JSON.stringify(args);
export const argsValue = (args: string | Json = {}): unknown => {
  try {
    return JSON.parse(argsText(args));
  } catch {
    return args;
  }
};
export const callId = ({ n, calls = [] }: Numbered, i: number): string =>
  calls[i]?.id ?? `call_${n}_${i}`;
export const finishOf = ({ finish, calls }: Said): string => finish ?? (calls ? 'calls' : 'stop');
export const pieces = (text = ''): string[] => text.match(/.{1,5}/gs) ?? [];
