import type { InferredToolCall } from '../inference-driver.ts';
import type { GrowingPart } from './ai-sdk-parts.ts';
import { parseJson } from '../../json.ts';
import { readCall } from './chat-message.ts';

export interface PartialToolCall {
  readonly id: string;
  readonly index: number;
  readonly part: GrowingPart;
  name: string;
  args: string;
  isWhole: boolean;
}

/** The tool calls of an answer, while they arrive. Ids may repeat. */
export class AiSdkCalls {
  readonly #calls: PartialToolCall[] = [];
  /** An answer may have any number of calls. */
  readonly #byId: Map<string, PartialToolCall[]> = new Map();
  /** Names of the tools whose input is a text. */
  readonly #textTools: ReadonlySet<string>;

  constructor(textTools: ReadonlySet<string> = new Set()) {
    this.#textTools = textTools;
  }

  begin(id: string, name: string): PartialToolCall {
    const index = this.#calls.length;
    const part: GrowingPart = { type: 'call', id: '', text: '', call: index, options: null };
    const call: PartialToolCall = { id, index, part, name, args: '', isWhole: false };
    this.#calls.push(call);
    const same = this.#byId.get(id);
    if (same) same.push(call);
    else this.#byId.set(id, [call]);
    return call;
  }

  /** Returns the newest call with this id. */
  newest(id: string): PartialToolCall | undefined {
    return this.#byId.get(id)?.at(-1);
  }

  /** Returns the oldest incomplete call with this id; drops those before it. */
  nextOpen(id: string): PartialToolCall | undefined {
    const same = this.#byId.get(id) ?? [];
    while (same.length > 1 && same[0]?.isWhole) same.shift();
    return same[0]?.isWhole ? undefined : same[0];
  }

  /** Reads the calls; those of an answer that was cut off may be incomplete. */
  inferred(cutOff: boolean): InferredToolCall[] {
    return this.#calls.map(({ id, name, args, isWhole }) => {
      const text = this.#textTools.has(name) ? textIn(args, isWhole) : null;
      return readCall(
        id,
        name,
        text === null ? args : JSON.stringify({ input: text }),
        cutOff && !isWhole,
      );
    });
  }
}

/** Returns the input of a custom tool: streamed as it is, and complete as a JSON string; null if it is an object. */
function textIn(args: string, isWhole: boolean): string | null {
  if (!isWhole) return args;
  const parsed = parseJson(args);
  if (!parsed.ok) return args;
  return typeof parsed.value === 'string' ? parsed.value : null;
}
