import { isRecord, MOST_LEVELS, parseJson, type JsonObject } from '../json.ts';
import { pacer } from '../pacing.ts';
import { jsonFault } from './json-fault.ts';
import { jsonShape } from './json-shape.ts';
import { ApiRefusal } from './refusal.ts';

/** Limits beyond any legitimate request, small enough to check quickly. */
const MAX_VALUES = 10_000;

/** A longer body is processed in its own turn of the event loop: several may arrive together. */
const LARGE_CHARACTERS = 65_536;

/**
 * Reads the body as a JSON object; an empty one counts as `{}`. Never keeps more than `maxBytes`, whatever the
 * headers say.
 */
export async function readBody(
  request: Request,
  maxBytes: number,
  owner: string,
): Promise<JsonObject> {
  const type = request.headers.get('content-type');
  // a form or a script of another site cannot send this type without a preflight
  if (type !== null && !/^application\/json\s*(?:;|$)/i.test(type)) throw notJson(type);
  const text = await boundedText(request, maxBytes);
  if (text.length > LARGE_CHARACTERS) await pacer(owner, 0)();
  if (text.trim() === '') return {};
  if (type === null) throw notJson('nothing');
  checkShape(text);
  const parsed = parseJson(text);
  if (!parsed.ok) throw new ApiRefusal('invalid_json', `The body is not JSON: ${jsonFault(text)}.`);
  if (!isRecord(parsed.value))
    throw new ApiRefusal('invalid_request', 'The body is not a JSON object.');
  checkKeys(parsed.value);
  return parsed.value;
}

async function boundedText({ body, headers }: Request, maxBytes: number): Promise<string> {
  if (!body) return '';
  const reader = body.getReader();
  const tooLarge = async (): Promise<never> => {
    await reader.cancel().catch(() => {});
    throw new ApiRefusal('body_too_large', `The body is larger than ${maxBytes} bytes.`, {
      details: { maxBytes },
    });
  };
  if (Number(headers.get('content-length') ?? 0) > maxBytes) return tooLarge();
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
  let text = '';
  for (let bytes = 0; ;) {
    const { done, value } = await reader.read();
    bytes += value?.byteLength ?? 0;
    if (bytes > maxBytes) return tooLarge();
    try {
      text += done ? decoder.decode() : decoder.decode(value, { stream: true });
    } catch {
      throw new ApiRefusal(
        'invalid_json',
        `The body is not UTF-8, within its first ${bytes} bytes.`,
      );
    }
    if (done) return text;
  }
}

/** Refuses, before parsing, what would take long to parse, check and walk: extreme depth or very many values. */
function checkShape(text: string): void {
  const { depth, values } = jsonShape(text);
  if (depth > MOST_LEVELS)
    throw new ApiRefusal(
      'invalid_request',
      `The body is nested deeper than ${MOST_LEVELS} levels.`,
    );
  if (values > MAX_VALUES)
    throw new ApiRefusal(
      'invalid_request',
      `The body has more than ${MAX_VALUES} values. Send less at a time.`,
    );
}

/** Refuses keys such as `__proto__`, which a copy would lose or apply. */
function checkKeys(root: JsonObject): void {
  // its keys are call ids, and are read as such
  const { approvals } = root;
  let level: readonly object[] = [root];
  while (level.length > 0) {
    const next: object[] = [];
    for (const value of level) {
      if (value !== approvals && Object.hasOwn(value, '__proto__'))
        throw new ApiRefusal(
          'invalid_request',
          'The body has a key "__proto__", which is not allowed.',
        );
      for (const inner of Object.values(value) as unknown[])
        if (typeof inner === 'object' && inner !== null) next.push(inner);
    }
    level = next;
  }
}

const notJson = (type: string): ApiRefusal =>
  new ApiRefusal(
    'unsupported_media_type',
    `The content type is ${JSON.stringify(type.slice(0, 80))}, expected application/json.`,
  );
