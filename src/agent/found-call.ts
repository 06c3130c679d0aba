import { show } from '../errors/agent-error.ts';
import { isRecord, type JsonObject } from '../json.ts';
import type { ReadCall } from '../inference/read-response.ts';
import { argumentsIn } from '../tools/arguments.ts';
import type { OfferedTools } from './offered-tools.ts';

/** A call with the name of the tool that the model called it through, if any. */
export type FoundCall = ReadCall & { readonly via?: string };

/**
 * Returns the call of a found tool under its own name. A call that names no tool stays as it is, with the problem in a
 * sentence.
 */
export function foundCall(call: ReadCall, { found, toolNameSet }: OfferedTools): FoundCall {
  const { name: via, args, problem } = call;
  if (found?.callTool !== via || !toolNameSet.has(via) || problem !== undefined) return call;
  const { name } = args;
  if (typeof name !== 'string' || !found.callable.has(name))
    return { ...call, problem: noSuchTool(via, name) };
  const given = argumentsOf(args);
  return typeof given === 'string'
    ? { ...call, problem: `The arguments of ${show(name)} do not fit: ${given}` }
    : { providerId: call.providerId, name, args: given, via };
}

/** Some models write the inner arguments as a text. */
function argumentsOf({ arguments: given }: JsonObject): JsonObject | string {
  if (given === undefined || given === null) return {};
  return typeof given === 'string' || isRecord(given)
    ? argumentsIn(given)
    : `"arguments" is ${show(given)}, expected an object.`;
}

const noSuchTool = (via: string, name: unknown): string =>
  typeof name === 'string'
    ? `${via} knows no tool ${show(name)}. Search for tools, and use a name from the results.`
    : `${via} needs the name of a tool as "name", and its arguments as "arguments".`;

/** Most characters before the inner arguments, and most after them. */
const MAX_HEAD = 500;
const MAX_TAIL = 200;

/**
 * Reads the streamed arguments of a call through another tool: its name, then the inner arguments as they arrive. What
 * has another form is not streamed.
 */
export class FoundCallDeltas {
  readonly #offered: OfferedTools;
  #head = '';
  #tool: string | null = null;
  #isOther = false;
  /** The last brace, which may close the outer object, with what follows. */
  #tail = '';

  constructor(offered: OfferedTools) {
    this.#offered = offered;
  }

  /** Returns the next piece of the inner arguments; null while there is none. */
  push(text: string): { readonly tool: string; readonly argsDelta: string } | null {
    if (this.#isOther) return null;
    if (this.#tool !== null) return this.#inner(this.#tool, text);
    this.#head += text;
    const match = head.exec(this.#head);
    const tool = match?.[1] ?? '';
    if (match && this.#offered.found?.callable.has(tool) === true) {
      this.#tool = tool;
      return this.#inner(tool, this.#head.slice(match[0].length));
    }
    this.#isOther = match !== null || this.#head.length > MAX_HEAD;
    return null;
  }

  #inner(tool: string, text: string): { readonly tool: string; readonly argsDelta: string } | null {
    const all = this.#tail + text;
    let end = all.length;
    while (end > 0 && ' \n\r\t'.includes(all.charAt(end - 1))) end -= 1;
    if (all.charAt(end - 1) === '}') end -= 1;
    // a stream of spaces must not be read again with each of them
    if (all.length - end > MAX_TAIL) end = all.length;
    this.#tail = all.slice(end);
    return end === 0 ? null : { tool, argsDelta: all.slice(0, end) };
  }
}

/** A name needs no escapes, and is checked against the known ones. */
const head =
  /^\s{0,20}\{\s{0,20}"name"\s{0,20}:\s{0,20}"([^"\\]{1,200})"\s{0,20},\s{0,20}"arguments"\s{0,20}:\s{0,20}(?=\{)/;
