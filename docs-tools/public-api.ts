import { readFileSync } from 'node:fs';
import { readModule, type Declaration, type Origin, type SourceModule } from './read-module.ts';

export interface PublicName {
  readonly name: string;
  /** More than one for overloads, and for a constant that shares its name with a type. */
  readonly declarations: readonly Declaration[];
  /** What it mentions, resolved: `file#name`. */
  readonly uses: readonly string[];
}

interface Subpath {
  /** As it is imported: `onward/testing`. */
  readonly specifier: string;
  readonly names: readonly PublicName[];
}

export interface PublicApi {
  readonly subpaths: readonly Subpath[];
  /** Types that public signatures mention and that users cannot import. */
  readonly shapes: readonly PublicName[];
}

/** One key for a declaration, whichever subpath it is reached by. */
export const keyOf = ({ file, name }: Pick<Declaration, 'file' | 'name'>): string =>
  `${file}#${name}`;

/** Code units, so that every machine sorts alike; `agent` beside `Agent`. */
export const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  order(a.name.toLowerCase(), b.name.toLowerCase()) || order(a.name, b.name);
const order = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** Everything that can be imported from the package, read from its manifest and sources. */
export function readPublicApi(): PublicApi {
  const modules = new Map<string, SourceModule>();
  const moduleOf = (file: string): SourceModule => {
    const known = modules.get(file) ?? readModule(file);
    modules.set(file, known);
    return known;
  };

  /** Follows a name to the file that declares it; null where that is a package of others. */
  const declared = ({ from, name }: Origin): readonly Declaration[] | null => {
    if (!from.startsWith('src/')) return null;
    const { declarations, imports, exports, file } = moduleOf(from);
    const own = declarations.get(name);
    if (own !== undefined) return own;
    const next = exports.get(name) ?? imports.get(name);
    if (next === undefined) throw new Error(`${file} has no "${name}".`);
    return declared(next);
  };

  const named = (name: string, declarations: readonly Declaration[]): PublicName => {
    const uses = declarations.flatMap(({ file, mentions }) =>
      mentions.flatMap((word) => {
        const { declarations: own, imports } = moduleOf(file);
        const origin = own.has(word) ? { from: file, name: word } : imports.get(word);
        const [first] = (origin && declared(origin)) ?? [];
        return first === undefined ? [] : [keyOf(first)];
      }),
    );
    const self = new Set(declarations.map(keyOf));
    return { name, declarations, uses: [...new Set(uses)].filter((key) => !self.has(key)) };
  };

  const subpaths = entries().map(({ specifier, file }) => ({
    specifier,
    names: [...moduleOf(file).exports]
      .map(([name, origin]) => named(name, declared(origin) ?? []))
      .toSorted(byName),
  }));

  const open = subpaths.flatMap(({ names }) => names);
  const seen = new Set(open.flatMap(({ declarations }) => declarations.map(keyOf)));
  const shapes: PublicName[] = [];
  for (const key of reach(open)) {
    if (seen.has(key)) continue;
    seen.add(key);
    const [from = '', name = ''] = key.split('#');
    const shape = named(name, declared({ from, name }) ?? []);
    shapes.push(shape);
    open.push(shape);
  }
  return { subpaths, shapes: shapes.toSorted(byName) };
}

/** What the names use; the list may grow while it is read. */
function* reach(names: readonly PublicName[]): Generator<string> {
  for (const { uses } of names) yield* uses;
}

/** The subpaths with code, as the manifest has them. */
function entries(): readonly { readonly specifier: string; readonly file: string }[] {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly name: string;
    readonly exports: Readonly<Record<string, string | { readonly 'onward-source'?: string }>>;
  };
  return Object.entries(manifest.exports).flatMap(([subpath, target]) => {
    const source = typeof target === 'string' ? undefined : target['onward-source'];
    const specifier = `${manifest.name}${subpath.slice(1)}`;
    return source === undefined ? [] : [{ specifier, file: source.slice(2) }];
  });
}
