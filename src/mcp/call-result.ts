import { isRecord, sameJson, parseJson, toJsonValue, type JsonValue } from '../json.ts';

/** Converts the result of a tool for the model: text, or JSON with the blocks that are not text. */
export function callValue(result: Readonly<Record<string, unknown>>): JsonValue {
  const { content, structuredContent } = result;
  const blocks = (Array.isArray(content) ? content : []).map(blockValue);
  if (structuredContent === undefined) {
    if (blocks.every((block) => typeof block === 'string')) return blocks.join('\n');
    return blocks;
  }
  const structured = toJsonValue(structuredContent);
  // servers repeat the structured content as text for clients that do not read it
  const others = blocks.filter((block) => typeof block !== 'string' || !repeats(block, structured));
  return others.length === 0 ? structured : { structured, content: others };
}

/** Returns the text of an error result. */
export const errorText = (result: Readonly<Record<string, unknown>>): string => {
  const value = callValue(result);
  return (typeof value === 'string' ? value : JSON.stringify(value)) || 'no reason given';
};

function repeats(text: string, structured: JsonValue): boolean {
  const parsed = parseJson(text);
  return parsed.ok && sameJson(parsed.value, structured);
}

function blockValue(block: unknown): JsonValue {
  if (!isRecord(block)) return '[unknown content]';
  const { type, text, data, mimeType, resource, uri, name, description } = block;
  if (type === 'text' && typeof text === 'string') return text;
  if (type === 'image' || type === 'audio') return binaryNote(type, mimeType, data);
  if (type === 'resource' && isRecord(resource)) return resourceValue(resource);
  if (type === 'resource_link')
    return toJsonValue({ type, uri, name, description, mimeType }) ?? '[link]';
  return `[unknown content of type ${JSON.stringify(String(type).slice(0, 40))}]`;
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
