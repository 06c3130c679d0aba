import { isRecord, jsonText, parseJson, type JsonObject } from '../../json.ts';
import type { InferenceChunk, InferredToolCall } from '../inference-driver.ts';
import { MAX_CALLS } from '../read-response.ts';
import type { ProviderState } from './provider-state.ts';
import { argumentText, readCall, string } from './chat-message.ts';

interface PartialToolCall {
  id: string;
  name: string;
  args: string;
  /** Arguments that arrived before the name. */
  unsent: string;
  /** Progress of the arguments: an open object is not parsed with every chunk. */
  readonly shape: JsonShape;
  /** Position among the calls that have a name; -1 until then. */
  place: number;
  extra: unknown;
  /** Whether it calls a custom tool, whose input is a text and not JSON. */
  isCustom: boolean;
}

/**
 * Assembles tool calls from their parts. Providers omit the index, use 0 for every call, omit the id, repeat id and
 * name in every part, or send whole calls.
 */
export class ToolCallAssembler {
  readonly #calls: PartialToolCall[] = [];
  /** The current call of an index. */
  readonly #byIndex: Map<number, PartialToolCall> = new Map();
  readonly #byId: Map<string, PartialToolCall> = new Map();
  #named = 0;

  /** Reads the list of parts of one delta. */
  read(pieces: readonly unknown[], out: InferenceChunk[]): void {
    for (const [place, piece] of pieces.entries())
      if (isRecord(piece)) {
        const known = pieces.length > 1 ? this.#calls[place] : undefined;
        this.#readPiece(piece, known ?? this.#calls.at(-1), out);
      }
  }

  /** Returns the calls so far, without incomplete arguments. */
  list(cutOff: boolean): InferredToolCall[] {
    return this.#namedCalls().map(({ id, name, args, isCustom }) =>
      readCall(id, name, isCustom ? (jsonText({ input: args }) ?? '') : args, cutOff),
    );
  }

  /** Returns what a provider expects back: signatures by position of the call, and positions of custom calls. */
  state(): Pick<ProviderState, 'calls' | 'custom'> {
    const named = this.#namedCalls().slice(0, MAX_CALLS + 1);
    // parsed from JSON
    const calls = named.map(({ extra }) => (isRecord(extra) ? (extra as JsonObject) : null));
    const custom = [...named.keys()].filter((i) => named[i]?.isCustom);
    return {
      ...(calls.some((extra) => extra !== null) ? { calls } : null),
      ...(custom.length > 0 ? { custom } : null),
    };
  }

  /** Whether there are calls and all of them are complete. */
  get areWhole(): boolean {
    return (
      this.#calls.length > 0 && this.#calls.every(({ name, args }) => name !== '' && isWhole(args))
    );
  }

  get length(): number {
    return this.#calls.length;
  }

  #namedCalls(): PartialToolCall[] {
    return this.#calls.filter(({ name }) => name !== '');
  }

  #readPiece(
    piece: Record<string, unknown>,
    neighbour: PartialToolCall | undefined,
    out: InferenceChunk[],
  ): void {
    const fn = isRecord(piece['function']) ? piece['function'] : {};
    // some servers send an empty one with every function call
    const custom = isRecord(piece['function']) ? null : piece['custom'];
    const id = string(piece['id']);
    const name = string(isRecord(custom) ? custom['name'] : fn['name']);
    const args = isRecord(custom) ? string(custom['input']) : argumentText(fn['arguments']);
    const call = this.#callFor(piece['index'], id, name, args, neighbour);
    if (call.id === '' && id !== '') {
      call.id = id;
      if (!this.#byId.has(id)) this.#byId.set(id, call);
    }
    call.name ||= name;
    call.args += args;
    call.unsent += args;
    call.shape.read(args);
    call.extra = piece['extra_content'] ?? call.extra;
    call.isCustom ||= isRecord(custom);
    this.#emit(call, out);
  }

  /** Emits a call once it has a name. */
  #emit(call: PartialToolCall, out: InferenceChunk[]): void {
    if (call.name === '') return;
    if (call.place < 0) call.place = this.#named++;
    const { place: index, id, name, unsent: argsDelta } = call;
    call.unsent = '';
    out.push({ type: 'tool_call', index, id: id || null, name, argsDelta });
  }

  #callFor(
    index: unknown,
    id: string,
    name: string,
    args: string,
    neighbour: PartialToolCall | undefined,
  ): PartialToolCall {
    const number = typeof index === 'string' && index !== '' ? Number(index) : index;
    if (typeof number === 'number' && Number.isInteger(number)) {
      const known = this.#byIndex.get(number);
      if (known && continues(known, id, name, args, known.id === '')) return known;
      const other = known ? this.#byId.get(id) : undefined;
      const call = other ?? this.#begin();
      this.#byIndex.set(number, call);
      return call;
    }
    const same = this.#byId.get(id);
    if (same) return same;
    const isContinued = neighbour !== undefined && continues(neighbour, id, name, args, true);
    return isContinued ? neighbour : this.#begin();
  }

  #begin(): PartialToolCall {
    const call: PartialToolCall = {
      id: '',
      name: '',
      args: '',
      unsent: '',
      shape: new JsonShape(),
      place: -1,
      extra: null,
      isCustom: false,
    };
    this.#calls.push(call);
    return call;
  }
}

/**
 * Whether a part continues a call, or starts the next one at the same index. Some providers repeat the name in every
 * part, others start the next call without an id after a complete one. If `mayBegin` is false, such a part is
 * appended, and the call, which then cannot be read, does not run.
 */
function continues(
  call: PartialToolCall,
  id: string,
  name: string,
  args: string,
  mayBegin: boolean,
): boolean {
  if (id !== '' && call.id !== '') return id === call.id;
  if (name === '' || call.name === '') return true;
  if (name !== call.name) return false;
  return !(
    mayBegin &&
    args.trimStart().startsWith('{') &&
    call.shape.isWhole(call.args) &&
    args !== call.args
  );
}

/** Tracks braces and strings of a growing text, so that it is parsed only when it may be complete, and only once. */
class JsonShape {
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #hasBegun = false;
  /** Whether a closed text was not JSON; more text cannot make it valid. */
  #isBroken = false;

  read(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const char = text.charAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#inString) {
        if (char === '\\') this.#isEscaped = true;
        else if (char === '"') this.#inString = false;
      } else if (char === '"') this.#inString = true;
      else if (char === '{') {
        this.#depth += 1;
        this.#hasBegun = true;
      } else if (char === '}') this.#depth -= 1;
    }
  }

  /** Whether everything that was read, which is `text`, is an object. */
  isWhole(text: string): boolean {
    if (this.#isBroken || !this.#hasBegun || this.#inString || this.#depth > 0) return false;
    this.#isBroken = !isWhole(text);
    return !this.#isBroken;
  }
}

const isWhole = (args: string): boolean => {
  const parsed = parseJson(args);
  return parsed.ok && isRecord(parsed.value);
};
