import { canonicalJson, isRecord, parseJson, withoutFence } from '../json.ts';
import type { ReadCall } from './read-response.ts';

interface NamedCall {
  readonly name: string;
  readonly args: unknown;
}

/** Whether the text is only JSON that repeats one of the calls, or its arguments. */
export function isCallLeak(
  content: string,
  calls: readonly Pick<ReadCall, 'name' | 'args' | 'argsRaw'>[],
): boolean {
  if (calls.length === 0 || content === '') return false;
  const text = withoutFence(content);
  if (text === '') return false;
  // incomplete arguments that a stream would have held back; text that was shown is kept
  if (calls.some(({ argsRaw }) => argsRaw !== undefined && argsRaw.trim() === text))
    return new LeakFilter().push(text) === '';
  if (text[0] !== '{' && text[0] !== '[') return false;
  const parsed = parseJson(text);
  if (!parsed.ok) return false;
  const known = new Set<string>();
  for (const { name, args } of calls) {
    known.add(canonicalJson(args));
    known.add(canonicalJson([name, args]));
  }
  const isKnown = (value: unknown): boolean => {
    const call = namedCall(value);
    return (
      known.has(canonicalJson(value)) ||
      (call !== null && known.has(canonicalJson([call.name, call.args])))
    );
  };
  const items = callItems(parsed.value);
  return isKnown(parsed.value) || (items.length > 0 && items.every(isKnown));
}

/** Whether a text without structured calls looks like a call of one of `tools`. It is kept, never run. */
export function looksLikeToolCall(content: string, tools: ReadonlySet<string>): boolean {
  const text = withoutFence(content.replace(/^\s*<tool_call>|<\/tool_call>\s*$/g, ''));
  if (text[0] !== '{' && text[0] !== '[') return false;
  const parsed = parseJson(text);
  if (!parsed.ok) return false;
  const names = [parsed.value, ...callItems(parsed.value)].map((value) => namedCall(value)?.name);
  return names.some((name) => name !== undefined && tools.has(name));
}

/** Returns the elements of a list of calls, bare or under `tool_calls`. */
function callItems(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (isRecord(value) && Array.isArray(value['tool_calls'])) return value['tool_calls'];
  return [];
}

/** Formats in which models write a call: those of OpenAI, Anthropic, Hermes and similar ones. */
function namedCall(value: unknown): NamedCall | null {
  if (!isRecord(value)) return null;
  const inner = isRecord(value['function']) ? value['function'] : value;
  const name = inner['name'] ?? value['tool'] ?? value['tool_name'] ?? value['function'];
  const args = inner['arguments'] ?? inner['args'] ?? inner['parameters'] ?? inner['input'];
  if (typeof name !== 'string') return null;
  if (typeof args !== 'string') return { name, args: args ?? {} };
  const parsed = parseJson(args);
  return { name, args: parsed.ok ? parsed.value : args };
}

/** Holds back streamed text that starts like JSON until it cannot be a leaked call. Reads each character once. */
export class LeakFilter {
  // joined on release: reading the text so far would cost its whole length with every delta
  #held: string[] = [];
  #open = false;
  #scanner: JsonScanner | null = null;

  /** Returns what may be shown now: '' while the text is held. */
  push(text: string): string {
    if (this.#open) return text;
    if (text === '') return '';
    this.#held.push(text);
    const fed = this.#scanner === null ? text.trimStart() : text;
    if (fed === '') return '';
    this.#scanner ??= new JsonScanner();
    return this.#scanner.feed(fed) ? '' : this.release();
  }

  /** Shows the held text and holds nothing more. */
  release(): string {
    const text = this.#held.join('');
    this.#open = true;
    this.#held = [];
    return text;
  }
}

/** Scans JSON, possibly inside a code fence, just closely enough to detect prose. */
class JsonScanner {
  #languageOver = false;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #closed = false;
  #afterBrace = false;
  #ticks = 0;

  /** Returns false once the text cannot be one JSON value. */
  feed(text: string): boolean {
    for (let i = 0; i < text.length; i++) if (!this.#accepts(text.charAt(i))) return false;
    return true;
  }

  #accepts(char: string): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (char === '\\') this.#escaped = true;
      else if (char === '"') this.#inString = false;
      return true;
    }
    if (this.#depth === 0 && !this.#closed) return this.#acceptsOpening(char);
    if (/\s/.test(char)) return true;
    if (this.#closed) return char === '`';
    if (this.#afterBrace) {
      this.#afterBrace = false;
      if (char !== '"' && char !== '}') return false;
    }
    if (char === '"') this.#inString = true;
    else if (char === '{' || char === '[') this.#descend(char);
    else if (char === '}' || char === ']') this.#closed = --this.#depth === 0;
    else return /[,:\d+\-.eEtrufalsn]/.test(char);
    return true;
  }

  #acceptsOpening(char: string): boolean {
    if (char === '`') return ++this.#ticks <= 3;
    // one or two ticks are inline code
    if (this.#ticks === 1 || this.#ticks === 2) return false;
    if (char === '{' || char === '[') return this.#descend(char);
    // a fence may name its language right after the ticks; then the JSON has to start
    if (!/\s/.test(char)) return this.#ticks === 3 && !this.#languageOver && /[\w-]/.test(char);
    this.#languageOver = true;
    return true;
  }

  #descend(char: string): true {
    this.#depth += 1;
    this.#afterBrace = char === '{';
    return true;
  }
}
