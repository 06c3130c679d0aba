import { isRecord, type JsonObject, type JsonValue } from '../../json.ts';
import { childOf, pointerKeys, pointerTo } from '../../json-pointer.ts';
import { mapSchema, schemasIn } from './map-schema.ts';

/** Whether a schema refers to itself, directly or through another one. Each reference is read once. */
export function isRecursive(root: JsonObject): boolean {
  const open = new Set<JsonObject>();
  const read = new Set<JsonObject>();
  const enters = (schema: JsonObject): boolean => {
    if (open.has(schema)) return true;
    if (read.has(schema)) return false;
    open.add(schema);
    const { $defs: _defs, definitions: _definitions, ...used } = schema;
    const target = targetOf(root, schema);
    const found = (target !== null && enters(target)) || schemasIn(used).some(enters);
    open.delete(schema);
    read.add(schema);
    return found;
  };
  return enters(root);
}

function targetOf(root: JsonObject, { $ref: ref }: JsonObject): JsonObject | null {
  const keys = typeof ref === 'string' && ref.startsWith('#') ? keysOf(ref) : null;
  const target = keys?.reduce<unknown>(childOf, root);
  return isRecord(target) ? (target as JsonObject) : null; // part of a schema
}

function keysOf(ref: string): readonly string[] | null {
  try {
    return pointerKeys(decodeURIComponent(ref.slice(1)));
  } catch {
    return null;
  }
}

/** A reference to a definition at the root. */
const plain = /^#\/(?:\$defs|definitions)\/[^/]+$/;

/** Makes every reference point to a definition at the root, which is all that some packages read. */
export function withRootRefs(root: JsonObject): JsonObject {
  const added = new Map<string, { readonly name: string; readonly schema: JsonObject }>();
  const taken = new Set(Object.keys(isRecord(root['$defs']) ? root['$defs'] : {}));
  const moved = (schema: JsonObject): JsonObject => {
    const { $ref: ref } = schema;
    const inner = mapSchema(schema, moved);
    if (typeof ref !== 'string' || plain.test(ref)) return inner;
    const target = targetOf(root, schema);
    if (!target) return inner;
    const name = added.get(ref)?.name ?? freeName(taken);
    if (!added.has(ref)) added.set(ref, { name, schema: target });
    return { ...inner, $ref: `#${pointerTo('/$defs', name)}` };
  };
  const { $defs: defs = {}, ...rest } = moved(root);
  if (added.size === 0) return root;
  const all: [string, JsonValue][] = isRecord(defs) ? Object.entries(defs) : [];
  // a definition may have references that are not at the root either
  for (const { name, schema } of added.values()) {
    const { $defs: _defs, ...own } = schema;
    all.push([name, moved(own)]);
  }
  return { ...rest, $defs: Object.fromEntries(all) };
}

function freeName(taken: Set<string>): string {
  let n = taken.size + 1;
  while (taken.has(`ref${n}`)) n++;
  taken.add(`ref${n}`);
  return `ref${n}`;
}
