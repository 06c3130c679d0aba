import { isRecord, sameJson, parseJson, toJsonValue, type JsonValue } from '../json.ts';
import { toolContent, type ToolContentPart } from '../tools/tool-content.ts';

/** Most parts of one result; the last one says how many are left out. */
const MAX_PARTS = 32;
/** Most characters of base64 of one result: 5 MB. */
const MAX_BASE64 = 6_600_000;

/** A text, which may be a note on what is left out, a JSON value, or binary content. */
type Block = { readonly text: string } | { readonly json: JsonValue } | { readonly media: Media };
type Media = Extract<ToolContentPart, { readonly type: 'image' | 'file' }>;

/**
 * Converts the result of a tool: text, JSON with the blocks that are not text, or parts if there are images or files. What
 * no provider takes is a note.
 */
export function callValue(result: Readonly<Record<string, unknown>>): unknown {
  const { content, structuredContent } = result;
  const given: readonly unknown[] = Array.isArray(content) ? content : [];
  const blocks = withinBounds(given.slice(0, MAX_PARTS - 2).map(readBlock));
  if (given.length > MAX_PARTS - 2)
    blocks.push({ text: `[${given.length - (MAX_PARTS - 2)} more blocks, left out]` });
  const structured = structuredContent === undefined ? undefined : toJsonValue(structuredContent);
  // servers repeat the structured content as text for clients that do not read it
  const others =
    structured === undefined
      ? blocks
      : blocks.filter((block) => !('text' in block && repeats(block.text, structured)));
  if (others.some((block) => 'media' in block))
    return toolContent([
      ...(structured === undefined ? [] : [{ type: 'json' as const, value: structured }]),
      ...others.map(partOf),
    ]);
  const values = others.map((block) => ('text' in block ? block.text : jsonOf(block)));
  if (structured !== undefined)
    return values.length === 0 ? structured : { structured, content: values };
  return values.every((value) => typeof value === 'string') ? values.join('\n') : values;
}

/** Returns the text of an error result. */
export function errorText(result: Readonly<Record<string, unknown>>): string {
  const value = callValue(result);
  return (typeof value === 'string' ? value : JSON.stringify(value)) || 'no reason given';
}

const jsonOf = (block: Block): JsonValue => ('json' in block ? block.json : null);

function partOf(block: Block): ToolContentPart {
  if ('media' in block) return block.media;
  return 'text' in block ? { type: 'text', text: block.text } : { type: 'json', value: block.json };
}

/** Replaces media by notes once they are too large together. */
function withinBounds(blocks: readonly Block[]): Block[] {
  let left = MAX_BASE64;
  return blocks.map((block) => {
    if (!('media' in block)) return block;
    const { type, mediaType, data } = block.media;
    left -= String(data).length;
    return left < 0 ? { text: binaryNote(type, mediaType, data) } : block;
  });
}

function repeats(text: string, structured: JsonValue): boolean {
  const parsed = parseJson(text);
  return parsed.ok && sameJson(parsed.value, structured);
}

function readBlock(block: unknown): Block {
  if (!isRecord(block)) return { text: '[unknown content]' };
  const { type, text, data, mimeType, resource, uri, name, description } = block;
  if (type === 'text' && typeof text === 'string') return { text };
  if (type === 'image') return mediaBlock('image', data, mimeType);
  if (type === 'audio') return mediaBlock('file', data, mimeType, 'audio');
  if (type === 'resource' && isRecord(resource))
    return typeof resource['text'] === 'string' || resource['blob'] === undefined
      ? { json: resourceValue(resource) }
      : mediaBlock('file', resource['blob'], resource['mimeType']);
  if (type === 'resource_link')
    return { json: toJsonValue({ type, uri, name, description, mimeType }) ?? '[link]' };
  return { text: `[unknown content of type ${JSON.stringify(String(type).slice(0, 40))}]` };
}

/** A part of binary content, if the content is what the server says. */
function mediaBlock(
  type: 'image' | 'file',
  data: unknown,
  mimeType: unknown,
  kind: string = type,
): Block {
  const note = { text: binaryNote(kind, mimeType, data) };
  if (typeof data !== 'string' || data.length > MAX_BASE64) return note;
  const media: Media = {
    type,
    data,
    ...(typeof mimeType === 'string' && mimeType.length <= 80 && { mediaType: mimeType }),
  };
  try {
    toolContent([media]);
    return { media };
  } catch {
    return note;
  }
}

/** Converts the contents of a resource. */
export function resourceValue(resource: Readonly<Record<string, unknown>>): JsonValue {
  const { uri, mimeType, text, blob } = resource;
  if (typeof text === 'string') return toJsonValue({ type: 'resource', uri, mimeType, text });
  const note = binaryNote('file', mimeType, blob);
  return toJsonValue({ type: 'resource', uri, mimeType, text: note });
}

/** Names binary content that is left out. */
function binaryNote(kind: string, mimeType: unknown, data: unknown): string {
  const type = typeof mimeType === 'string' ? ` ${mimeType.slice(0, 80)}` : '';
  const bytes = typeof data === 'string' ? Math.floor((data.length * 3) / 4) : 0;
  return `[${kind}${type}, ${bytes} bytes, left out]`;
}
