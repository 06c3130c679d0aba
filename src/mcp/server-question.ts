import {
  canonicalJson,
  isRecord,
  own,
  toJsonValue,
  type JsonObject,
  type JsonValue,
} from '../json.ts';
import { sha256 } from '../sha256.ts';
import type { InputQuestion } from '../tools/input-request.ts';
import { visibleLines, visibleText } from '../visible-text.ts';
import type { McpServer } from './mcp-options.ts';

const MAX_MESSAGE = 2_000;
const MAX_FIELDS = 40;
const MAX_NAME = 100;
const MAX_TEXT = 1_000;
const MAX_CHOICES = 200;

/** Names a server and where it is: `"tickets" (mcp.example.com)`. */
export const serverLabel = (server: McpServer): string =>
  'command' in server
    ? `"${server.name}" (a program on the server of this app)`
    : `"${server.name}" (${new URL(server.url).host})`;

/**
 * Reads a question of a server, which is foreign text: what is shown names the server, hidden characters are escaped, and
 * a form has at most 40 plain fields. Returns a text on what is wrong with a question that cannot be shown.
 */
export function serverQuestion(server: McpServer, params: unknown): InputQuestion | string {
  if (!isRecord(params)) return 'it has no content';
  const { message: said, mode, url, requestedSchema } = params;
  const text = typeof said === 'string' ? said.trim() : '';
  const message = `${serverLabel(server)} asks: ${visibleLines(text.slice(0, MAX_MESSAGE)) || '(no text)'}`;
  if (mode === 'url' || (mode === undefined && url !== undefined)) {
    const isWeb =
      typeof url === 'string' &&
      url.length <= 8_000 &&
      /^https?:\/\//i.test(url) &&
      URL.canParse(url);
    return isWeb ? { message, url } : 'its address is not an http or https address';
  }
  if (mode !== undefined && mode !== 'form') return 'it is of an unknown kind';
  return { message, schema: formSchema(requestedSchema) };
}

/** Identifies a question by its message and form, so that the same one can be recognized when a call is repeated. */
export function questionKey(params: unknown): string {
  const { message, requestedSchema, url } = isRecord(params) ? params : {};
  const asked = canonicalJson(toJsonValue({ message, requestedSchema, url }));
  return `ask_${sha256(asked).slice(0, 24)}`;
}

/** Keeps the flat forms that the protocol allows: texts, numbers, truth values and choices. */
export function formSchema(given: unknown): JsonObject {
  const properties = isRecord(given) ? own(given, 'properties') : undefined;
  const fields = isRecord(properties) ? Object.entries(properties).slice(0, MAX_FIELDS) : [];
  const kept = fields.flatMap(([name, field]): [string, JsonObject][] => {
    const isName = name !== '' && name !== '__proto__' && name.length <= MAX_NAME;
    return isName && isRecord(field) ? [[name, fieldSchema(field)]] : [];
  });
  const names = new Set(kept.map(([name]) => name));
  const required = isRecord(given) ? own(given, 'required') : undefined;
  const needed = Array.isArray(required)
    ? [...new Set(required.filter((name: unknown) => names.has(name as string)))]
    : [];
  return {
    type: 'object',
    properties: Object.fromEntries(kept),
    ...(needed.length > 0 && { required: needed as string[] }),
  };
}

type Field = Readonly<Record<string, unknown>>;

function fieldSchema(field: Field): JsonObject {
  const type = own(field, 'type');
  const shown = {
    ...texts(field, ['title', 'description']),
    ...(type !== 'array' && scalar(own(field, 'default'))),
  };
  switch (type) {
    case 'boolean':
      return { type, ...shown };
    case 'number':
    case 'integer':
      return { type, ...shown, ...numbers(field, ['minimum', 'maximum']) };
    case 'array': {
      const items = own(field, 'items');
      const choices = isRecord(items) ? choicesOf(items) : {};
      return {
        type,
        ...shown,
        items: { type: 'string', ...choices },
        ...numbers(field, ['minItems', 'maxItems']),
      };
    }
    default:
      return {
        type: 'string',
        ...shown,
        ...choicesOf(field),
        ...numbers(field, ['minLength', 'maxLength']),
        ...texts(field, ['format']),
      };
  }
}

function choicesOf(field: Field): JsonObject {
  const values = own(field, 'enum');
  if (Array.isArray(values)) {
    const names = own(field, 'enumNames');
    return {
      enum: strings(values),
      ...(Array.isArray(names) && { enumNames: strings(names).map(visibleText) }),
    };
  }
  const titled = own(field, 'oneOf') ?? own(field, 'anyOf');
  if (!Array.isArray(titled)) return {};
  const oneOf = titled.slice(0, MAX_CHOICES).flatMap((one: unknown): JsonObject[] => {
    const value = isRecord(one) ? own(one, 'const') : undefined;
    return typeof value === 'string' && isRecord(one)
      ? [{ const: value.slice(0, MAX_TEXT), ...texts(one, ['title']) }]
      : [];
  });
  return oneOf.length > 0 ? { oneOf } : {};
}

const strings = (values: readonly unknown[]): string[] =>
  values
    .slice(0, MAX_CHOICES)
    .flatMap((value) => (typeof value === 'string' ? [value.slice(0, MAX_TEXT)] : []));

const texts = (field: Field, names: readonly string[]): Record<string, JsonValue> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = own(field, name);
      return typeof value === 'string' ? [[name, visibleLines(value.slice(0, MAX_TEXT))]] : [];
    }),
  );

const numbers = (field: Field, names: readonly string[]): Record<string, JsonValue> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = own(field, name);
      return typeof value === 'number' && Number.isFinite(value) ? [[name, value]] : [];
    }),
  );

const scalar = (value: unknown): Record<string, JsonValue> =>
  typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
    ? { default: value }
    : typeof value === 'string'
      ? { default: value.slice(0, MAX_TEXT) }
      : {};
