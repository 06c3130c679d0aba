import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isolatedDeclarationSync, parseSync } from 'rolldown/experimental';

export interface Declaration {
  readonly file: string;
  readonly name: string;
  readonly kind: 'class' | 'interface' | 'type' | 'function' | 'const';
  /** What stands above it, one paragraph a line; '' if nothing does. */
  readonly comment: string;
  /** As a declaration file has it, with the comments of its members. */
  readonly text: string;
  /** Names of the module's scope that it mentions. */
  readonly mentions: readonly string[];
}

/** Where a name of a module comes from: another file of ours, or a package. */
export interface Origin {
  readonly from: string;
  readonly name: string;
}

/** What a source file declares, as its declaration file says it. */
export interface SourceModule {
  readonly file: string;
  /** A function with overloads, or a constant and a type of one name, have several. */
  readonly declarations: ReadonlyMap<string, readonly Declaration[]>;
  readonly imports: ReadonlyMap<string, Origin>;
  /** Public name to the place it comes from. */
  readonly exports: ReadonlyMap<string, Origin>;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const kinds: Readonly<Record<string, Declaration['kind']>> = {
  ClassDeclaration: 'class',
  TSInterfaceDeclaration: 'interface',
  TSTypeAliasDeclaration: 'type',
  TSDeclareFunction: 'function',
  FunctionDeclaration: 'function',
};

/**
 * The declarations of a source file, without a build: every export has its types written out (`isolatedDeclarations`),
 * so that one file is enough to know them.
 */
export function readModule(file: string): SourceModule {
  const { code, errors } = isolatedDeclarationSync(file, readFileSync(file, 'utf8'));
  const [problem] = errors;
  if (problem !== undefined) throw new Error(`${file} has no declarations: ${problem.message}`);
  const { program, comments } = parseSync('module.d.ts', code);
  const declarations = new Map<string, Declaration[]>();
  const imports = new Map<string, Origin>();
  const exports = new Map<string, Origin>();

  const commentBefore = ({ start }: Node): string => {
    const last = comments.findLast(({ end }) => end <= start);
    if (last === undefined || !last.value.startsWith('*')) return '';
    return code.slice(last.end, start).trim() === '' ? plainText(last.value) : '';
  };
  const keep = (statement: Node, declared: Node): void => {
    for (const { name, kind } of namesOf(declared)) {
      const text = withoutPrivate(code, declared);
      const comment = commentBefore(statement);
      const one = { file, name, kind, comment, text, mentions: mentionsOf(declared) };
      declarations.set(name, [...(declarations.get(name) ?? []), one]);
    }
  };

  for (const statement of program.body as unknown as readonly Node[]) {
    const source = statement['source'] as { readonly value: string } | null | undefined;
    const from = source ? placeOf(file, source.value) : file;
    const declared = statement['declaration'] as Node | null | undefined;
    const specifiers = (statement['specifiers'] ?? []) as readonly Node[];
    if (statement.type === 'ImportDeclaration')
      for (const one of specifiers)
        imports.set(wordOf(one['local']), { from, name: wordOf(one['imported'] ?? one['local']) });
    else if (statement.type !== 'ExportNamedDeclaration') keep(statement, statement);
    else if (declared) {
      keep(statement, declared);
      for (const { name } of namesOf(declared)) exports.set(name, { from, name });
    } else
      for (const one of specifiers)
        exports.set(wordOf(one['exported']), { from, name: wordOf(one['local']) });
  }
  return { file, declarations, imports, exports };
}

const wordOf = (node: unknown): string => {
  const { name, value } = node as { readonly name?: string; readonly value?: string };
  return name ?? value ?? '';
};

const placeOf = (file: string, source: string): string =>
  source.startsWith('.') ? join(dirname(file), source) : source;

function namesOf(node: Node): readonly Pick<Declaration, 'name' | 'kind'>[] {
  const kind = kinds[node.type];
  if (kind !== undefined) return [{ name: wordOf(node['id']), kind }];
  if (node.type !== 'VariableDeclaration') return [];
  return (node['declarations'] as readonly Node[]).map(({ id }) => {
    const annotation = (id as Node)['typeAnnotation'] as Node | null | undefined;
    const isFunction = (annotation?.['typeAnnotation'] as Node | undefined)?.type;
    return { name: wordOf(id), kind: isFunction === 'TSFunctionType' ? 'function' : 'const' };
  });
}

/** `#private;` is there for the type checker alone. */
function withoutPrivate(code: string, node: Node): string {
  const members = ((node['body'] as Node | null | undefined)?.['body'] ?? []) as readonly Node[];
  const hidden = node.type === 'ClassDeclaration' ? members.filter(isPrivate) : [];
  let text = '';
  let at = node.start;
  for (const { start, end } of hidden) {
    text += code.slice(at, start).trimEnd();
    at = end;
  }
  return (text + code.slice(at, node.end)).replace(/^declare /, '');
}
const isPrivate = ({ key }: Node): boolean =>
  (key as Node | undefined)?.type === 'PrivateIdentifier';

/** Every identifier but the names of members and parameters; what is not of the module's scope is left out by who asks. */
function mentionsOf(node: Node): readonly string[] {
  const found = new Set<string>();
  const visit = (value: unknown, field: string): void => {
    if (Array.isArray(value)) for (const one of value) visit(one, field);
    if (!isNode(value)) return;
    if (value.type === 'Identifier' && !ownNames.has(field)) found.add(wordOf(value));
    for (const [name, inner] of Object.entries(value)) visit(inner, name);
  };
  visit(node, '');
  return [...found];
}
const ownNames = new Set(['id', 'key', 'right', 'params', 'parameterName', 'value', 'argument']);
const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

const plainText = (comment: string): string =>
  comment
    .slice(1)
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/, '').trimEnd())
    .join('\n')
    .trim()
    .replaceAll(/(?<!\n)\n(?!\n|\s*[-*|])/g, ' ');
