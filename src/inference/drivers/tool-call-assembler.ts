import { isRecord, parseJson, type JsonObject } from '../../json.ts';
import type { InferenceChunk, InferredToolCall } from '../inference-driver.ts';
import { MOST_CALLS } from '../read-response.ts';
import { argumentText, readCall, string } from './chat-message.ts';

interface PartialToolCall {
  id: string;
  name: string;
  args: string;
  /** Arguments that came before the name. */
  untold: string;
  /** How far the arguments are: text inside of an open object is not parsed with every piece. */
  readonly shape: JsonShape;
  /** Position among the calls that have a name; -1 until then. */
  place: number;
  extra: unknown;
}

/**
 * Puts tool calls together from their pieces. Providers leave out the index, give 0 to every call, leave out the id,
 * repeat id and name in every piece, or send whole calls at once.
 */
export class ToolCallAssembler {
  readonly #calls: PartialToolCall[] = [];
  /** The call that pieces with this index belong to now. */
  readonly #byIndex: Map<number, PartialToolCall> = new Map();
  readonly #byId: Map<string, PartialToolCall> = new Map();
  #named = 0;

  /** One delta's list of pieces. */
  read(pieces: readonly unknown[], out: InferenceChunk[]): void {
    for (const [place, piece] of pieces.entries())
      if (isRecord(piece)) {
        const known = pieces.length > 1 ? this.#calls[place] : undefined;
        this.#readPiece(piece, known ?? this.#calls.at(-1), out);
      }
  }

  /** The calls so far; without their arguments where the turn ended before they were whole. */
  list(cutOff: boolean): InferredToolCall[] {
    return this.#namedCalls().map(({ id, name, args }) => readCall(id, name, args, cutOff));
  }

  /** What a provider wants back with each call, such as the signature of a thought; null when there is nothing. */
  extras(): readonly (JsonObject | null)[] | null {
    const calls = this.#namedCalls().slice(0, MOST_CALLS + 1);
    const extras = calls.map(({ extra }) => (isRecord(extra) ? extra : null));
    return extras.some((extra) => extra !== null) ? (extras as (JsonObject | null)[]) : null; // from JSON
  }

  /** Whether there are calls and none of them lacks a part. */
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
    const id = string(piece['id']);
    const name = string(fn['name']);
    const args = argumentText(fn['arguments']);
    const call = this.#callFor(piece['index'], id, name, args, neighbour);
    if (call.id === '' && id !== '') {
      call.id = id;
      if (!this.#byId.has(id)) this.#byId.set(id, call);
    }
    call.name ||= name;
    call.args += args;
    call.untold += args;
    call.shape.read(args);
    call.extra = piece['extra_content'] ?? call.extra;
    this.#tell(call, out);
  }

  /** A call is told from its name on: without one there is nothing to show. */
  #tell(call: PartialToolCall, out: InferenceChunk[]): void {
    if (call.name === '') return;
    if (call.place < 0) call.place = this.#named++;
    const { place: index, id, name, untold: argsDelta } = call;
    call.untold = '';
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
      untold: '',
      shape: new JsonShape(),
      place: -1,
      extra: null,
    };
    this.#calls.push(call);
    return call;
  }
}

/**
 * Whether a piece continues with a call, or begins the next one at the same place. Some repeat the name in every piece,
 * others begin the next call without id behind a whole one; where `mayBegin` is false such a piece is glued on, and the
 * call, which then cannot be read, is not run.
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

/** Follows braces and strings of a text that grows, so that only what may be whole is parsed, and that once. */
class JsonShape {
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #hasBegun = false;
  /** What was closed and yet no JSON stays so, whatever follows. */
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

  /** Whether all that was read, which is `text`, is an object. */
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
