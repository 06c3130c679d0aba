import { AgentError } from '../errors/agent-error.ts';
import { defaultRedactor, type Redactor } from '../errors/redactor.ts';
import { modelCallFailed } from '../inference/inference-error.ts';
import type {
  InferenceChunk,
  InferenceDriver,
  InferenceOptions,
  InferenceRequest,
  InferenceResponse,
} from '../inference/inference-driver.ts';
import { counted } from '../number-text.ts';
import {
  checkedIgnore,
  RequestReader,
  type CassetteCall,
  type ComparedRequest,
  type SentMessage,
} from './cassette.ts';
import { requestDiff } from './cassette-diff.ts';
import { readCassette, type Cassette } from './cassette-file.ts';

export interface CassetteOptions {
  /** The redactor of the recording. Default: the built-in rules. */
  readonly redactor?: Redactor;
}

export interface ReplayedModel extends InferenceDriver {
  /** Number of recorded calls that were not asked for yet. */
  readonly remaining: number;
  /** Throws if a recorded call was not asked for, with its last message. Call it at the end of a test. */
  assertConsumed(): void;
  stream(request: InferenceRequest, options: InferenceOptions): AsyncIterable<InferenceChunk>;
}

/**
 * Replays a cassette of {@link recordModel}. A request gets the answer that was recorded for the same request, in any order,
 * so that agents may run at the same time; the same request again gets the next of its answers. Any other request throws
 * with what differs, and no error policy catches that.
 */
export function replayModel(file: string | URL, options: CassetteOptions = {}): ReplayedModel {
  const cassette = readCassette(file);
  const { name, model, contextWindow } = cassette.header.driver;
  const replay = new Replay(cassette, String(file), options.redactor ?? defaultRedactor);
  return {
    name,
    ...(model !== undefined && { model }),
    ...(contextWindow !== undefined && { contextWindow }),
    get remaining() {
      return replay.remaining;
    },
    assertConsumed: () => replay.assertConsumed(),
    infer: async (request, { signal }) => answered(replay.take(request), signal),
    async *stream(request, { signal }) {
      const call = replay.take(request);
      for (const chunk of call.chunks ?? []) {
        // as from a network, so that calls beside this one run too
        await Promise.resolve();
        yield chunk;
      }
      yield { type: 'done', response: await answered(call, signal) };
    },
  };
}

class Replay {
  readonly #file: string;
  readonly #cassette: Cassette;
  readonly #reader: RequestReader;
  /** Calls that were not asked for, by hash, in their order. */
  readonly #waiting: Map<string, CassetteCall[]> = new Map();
  readonly #taken: Set<number> = new Set();
  readonly #byNumber: ReadonlyMap<number, CassetteCall>;

  constructor(cassette: Cassette, file: string, redactor: Redactor) {
    this.#file = file;
    this.#cassette = cassette;
    const ignore = cassette.header.ignore.map(([source, flags]) => new RegExp(source, flags));
    this.#reader = new RequestReader(redactor, checkedIgnore(ignore));
    for (const call of cassette.calls) {
      const same = this.#waiting.get(call.hash);
      if (same) same.push(call);
      else this.#waiting.set(call.hash, [call]);
    }
    this.#byNumber = new Map(cassette.calls.map((call) => [call.call, call]));
  }

  get remaining(): number {
    return this.#cassette.calls.length - this.#taken.size;
  }

  take(request: InferenceRequest): CassetteCall {
    const asked = this.#reader.read(request);
    const call = this.#waiting.get(asked.hash)?.shift();
    if (!call) throw this.#unexpected(asked);
    this.#taken.add(call.call);
    return call;
  }

  assertConsumed(): void {
    const left = this.#left();
    const [first] = left;
    if (!first) return;
    const last = JSON.stringify(this.#messagesOf(first).at(-1) ?? null);
    throw new AgentError(
      'script_exhausted',
      `${counted(left.length, 'call')} of the cassette ${this.#file} ${left.length === 1 ? 'was' : 'were'} not asked for: ` +
        `${left.map(({ call }) => call).join(', ')}. The last message of call ${first.call} is ${short(last)}. ` +
        'Find out why the run ended earlier, or record it again.',
      { details: { calls: left.map(({ call }) => call) } },
    );
  }

  #left(): readonly CassetteCall[] {
    return this.#cassette.calls.filter(({ call }) => !this.#taken.has(call));
  }

  #unexpected(asked: ComparedRequest): AgentError {
    const left = this.#left();
    const nearest = this.#nearest(asked, left);
    const why = nearest
      ? `The nearest recorded request is that of call ${nearest.call}, and differs:\n${this.#diff(asked, nearest)}`
      : `All ${counted(this.#cassette.calls.length, 'call')} were asked for.`;
    return new AgentError(
      'script_exhausted',
      `The cassette ${this.#file} has no answer for this request, which is number ${this.#taken.size + 1}. ${why}\n` +
        'Change the agent back, or record the cassette again with recordModel(driver, file).',
      { details: { expectedCall: nearest?.call ?? null } },
    );
  }

  /** Returns the call that shares the most messages with the request, the earliest of these. */
  #nearest(asked: ComparedRequest, left: readonly CassetteCall[]): CassetteCall | undefined {
    let best: CassetteCall | undefined;
    let most = -1;
    for (const call of left) {
      const messages = this.#messagesOf(call);
      const differs = messages.findIndex(
        (message, i) => JSON.stringify(message) !== JSON.stringify(asked.messages[i]),
      );
      const shared = differs === -1 ? messages.length : differs;
      if (shared > most) [best, most] = [call, shared];
    }
    return best;
  }

  #diff(asked: ComparedRequest, call: CassetteCall): string {
    const recorded = this.#cassette.definitions.get(call.definition)?.content ?? null;
    return requestDiff(
      { definition: recorded, messages: this.#messagesOf(call) },
      { definition: asked.definition.content, messages: asked.messages },
    );
  }

  /** Returns all messages of a call: those of the call before it, and its own. */
  #messagesOf(call: CassetteCall): readonly SentMessage[] {
    const parts: (readonly SentMessage[])[] = [];
    const seen = new Set<number>(); // a damaged file may have a circle
    for (let one: CassetteCall | undefined = call; one && !seen.has(one.call);) {
      seen.add(one.call);
      parts.unshift(one.messages);
      one = this.#byNumber.get(one.after ?? 0);
    }
    return parts.flat();
  }
}

async function answered(call: CassetteCall, signal: AbortSignal): Promise<InferenceResponse> {
  const { response, failure } = call;
  if (response) return response;
  if (failure) throw modelCallFailed(failure.report, failure.partial);
  // the run had aborted the call, and does so again
  return new Promise((_resolve, reject) => {
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
}

const short = (text: string): string => (text.length > 300 ? `${text.slice(0, 299)}…` : text);
