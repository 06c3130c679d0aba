import { isRecord, parseJson, toJsonValue, type JsonObject } from '../../json.ts';
import type { FilePart, ImagePart } from '../../messages/content-part.ts';
import type { ExtraPart, ProviderCall } from './ai-sdk-parts.ts';
import { string } from './chat-message.ts';

type Growing<T> = { -readonly [K in keyof T]: T[K] };

/** Collects the parts of an answer that are neither text nor reasoning nor calls of our tools. */
export class AiSdkExtra {
  readonly #parts: Growing<ExtraPart>[] = [];
  readonly #calls: Growing<ProviderCall>[] = [];
  readonly #byId: Map<string, number> = new Map();
  readonly #results: Map<string, Growing<ExtraPart>> = new Map();
  readonly #hidden: Map<string, Growing<ExtraPart>> = new Map();
  readonly files: (ImagePart | FilePart)[] = [];

  get isEmpty(): boolean {
    return this.#parts.length === 0;
  }
  get parts(): readonly ExtraPart[] {
    return this.#parts;
  }
  get calls(): readonly ProviderCall[] {
    return this.#calls;
  }

  call(part: Record<string, unknown>, at: number, options: JsonObject | null): void {
    const id = string(part['toolCallId']);
    const { input } = part;
    const parsed = typeof input === 'string' ? parseJson(input) : null;
    const args = toJsonValue(parsed?.ok ? parsed.value : input) ?? {};
    this.#byId.set(id, this.#calls.length);
    this.#add({ type: 'provider_call', at, index: this.#calls.length }, options);
    this.#calls.push({ id, name: string(part['toolName']), args });
  }

  /** Records a result; a later one of the same call replaces it. */
  result(part: Record<string, unknown>, at: number, options: JsonObject | null): void {
    const id = string(part['toolCallId']);
    let index = this.#byId.get(id);
    if (index === undefined) {
      this.#byId.set(id, (index = this.#calls.length));
      this.#calls.push({ id, name: string(part['toolName']) });
    }
    const call = this.#calls[index] as Growing<ProviderCall>; // a valid index
    call.result = toJsonValue(part['result']) ?? null;
    if (part['isError'] === true) call.isError = true;
    const known = this.#results.get(id);
    if (!known) this.#results.set(id, this.#add({ type: 'provider_result', at, index }, options));
    else if (options) known.options = options;
  }

  file(part: Record<string, unknown>, at: number, options: JsonObject | null): void {
    const data = base64In(part['data']);
    if (data === null) return;
    const mediaType = string(part['mediaType']);
    this.#add({ type: 'file', at, index: this.files.length }, options);
    this.files.push({
      type: mediaType.startsWith('image/') ? 'image' : 'file',
      data,
      ...(mediaType && { mediaType }),
    });
  }

  /** Adds to a text that is not for the user. */
  hide(id: string, text: string, at: number, options: JsonObject | null): void {
    const open = id === '' ? undefined : this.#hidden.get(id);
    const part = open ?? this.#add({ type: 'hidden', at, text: '' }, null);
    this.#hidden.set(id, part);
    part.text += text;
    if (options) part.options = { ...part.options, ...options };
  }

  isHidden(id: string): boolean {
    return id !== '' && this.#hidden.has(id);
  }

  #add(part: Growing<ExtraPart>, options: JsonObject | null): Growing<ExtraPart> {
    if (options) part.options = options;
    this.#parts.push(part);
    return part;
  }
}

/** Whether a text replaces the conversation for the provider and is not part of the answer. */
export const isCompaction = (options: JsonObject | null): boolean =>
  Object.values(options ?? {}).some((own) => isRecord(own) && own['type'] === 'compaction');

/** Returns the bytes of a file as base64: text, bytes, or the tagged form of v4; null for an address. */
function base64In(data: unknown): string | null {
  if (typeof data === 'string') return data;
  if (data instanceof Uint8Array) return base64Of(data);
  return isRecord(data) && data['type'] === 'data' ? base64In(data['data']) : null;
}

function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000)
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
