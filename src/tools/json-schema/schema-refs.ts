import { isRecord } from '../../json.ts';

/** Keywords with values that are data, not schemas. */
const DATA = /* @__PURE__ */ new Set([
  'const',
  'enum',
  'default',
  'examples',
  'required',
  'dependentRequired',
]);

/** Keywords with keys that are names, not keywords. */
const MAPS = /* @__PURE__ */ new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);

/** Base URL of relative references in a schema without `$id`. */
const BASE = 'https://schema.invalid/';

/** Resolves `$ref`: by `$id`, by anchor, by JSON pointer. */
export class SchemaRefs {
  readonly #bases = new Map<object, string>();
  readonly #named = new Map<string, unknown>();

  constructor(schema: unknown) {
    this.#named.set(BASE, schema);
    this.#note(schema, BASE);
  }

  /** Returns the schema of a reference inside of `from`; undefined if there is none. */
  find(from: object, ref: string): unknown {
    const target = urlOf(ref, this.#bases.get(from) ?? BASE);
    if (target === null) return undefined;
    const [base = '', fragment = ''] = target.split('#');
    if (fragment !== '' && !fragment.startsWith('/')) return this.#named.get(target);
    let found = this.#named.get(base);
    for (const part of fragment.split('/').slice(1)) {
      const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key))
        return undefined;
      found = (found as Record<string, unknown>)[key];
    }
    return found;
  }

  #note(schema: unknown, outer: string): void {
    if (Array.isArray(schema)) for (const item of schema) this.#note(item, outer);
    if (!isRecord(schema) || this.#bases.has(schema)) return;
    const { $id: id } = schema;
    const base = typeof id === 'string' ? (urlOf(id, outer) ?? outer).replace(/#$/, '') : outer;
    this.#bases.set(schema, base);
    if (typeof id === 'string') this.#named.set(base, schema);
    for (const key of ['$anchor', '$dynamicAnchor'])
      if (typeof schema[key] === 'string') this.#named.set(`${base}#${schema[key]}`, schema);
    for (const key of Object.keys(schema)) {
      const inner = schema[key];
      if (!MAPS.has(key) || !isRecord(inner)) this.#note(DATA.has(key) ? null : inner, base);
      else for (const name of Object.keys(inner)) this.#note(inner[name], base);
    }
  }
}

function urlOf(ref: string, base: string): string | null {
  try {
    return new URL(ref, base).href;
  } catch {
    return null;
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
