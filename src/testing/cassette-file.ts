import { AgentError } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import {
  CASSETTE_FORMAT,
  CASSETTE_VERSION,
  type CassetteCall,
  type CassetteDefinition,
  type CassetteHeader,
} from './cassette.ts';

/** The part of `node:fs` that cassettes use. */
interface FileSystem {
  readFileSync(path: string | URL, encoding: 'utf8'): string;
  writeFileSync(path: string | URL, text: string): void;
  appendFileSync(path: string | URL, text: string): void;
}
type Builtins = (name: 'node:fs') => FileSystem | undefined;

/** Returns the file system, without an import that a browser could not load. */
function fileSystem(): FileSystem {
  const { process } = globalThis as { process?: { getBuiltinModule?: Builtins } };
  const found = process?.getBuiltinModule?.('node:fs');
  if (found) return found;
  throw new AgentError(
    'invalid_option',
    'A cassette is a file, and there is no file system here. Run the test in Node.',
  );
}

/** Writes a cassette line by line. The file is replaced with the first line. */
export function cassetteWriter(file: string | URL): (line: object) => void {
  const { writeFileSync, appendFileSync } = fileSystem();
  let isBegun = false;
  return (line) => {
    const text = `${JSON.stringify(line)}\n`;
    if (isBegun) appendFileSync(file, text);
    else writeFileSync(file, text);
    isBegun = true;
  };
}

export interface Cassette {
  readonly header: CassetteHeader;
  readonly definitions: ReadonlyMap<string, CassetteDefinition>;
  readonly calls: readonly CassetteCall[];
}

/** Reads a cassette, or throws with what is wrong with it. */
export function readCassette(file: string | URL): Cassette {
  const lines = textOf(file)
    .split('\n')
    .filter((line) => line !== '')
    .map((line, i) => parsed(file, line, i + 1));
  const [first, ...rest] = lines;
  const header = first as Partial<CassetteHeader> | undefined;
  if (header?.format !== CASSETTE_FORMAT || header.version !== CASSETTE_VERSION)
    throw broken(file, 1, `a cassette of version ${CASSETTE_VERSION}`);
  const definitions = new Map<string, CassetteDefinition>();
  const calls: CassetteCall[] = [];
  for (const [i, line] of rest.entries()) {
    const { call, definition, hash, messages } = line;
    if (typeof definition !== 'string') throw broken(file, i + 2, 'a definition or a call');
    if (call === undefined) definitions.set(definition, line as unknown as CassetteDefinition);
    else if (Number.isInteger(call) && typeof hash === 'string' && Array.isArray(messages))
      calls.push(line as unknown as CassetteCall); // written by recordModel
    else throw broken(file, i + 2, 'a call with its hash and messages');
  }
  calls.sort((a, b) => a.call - b.call);
  return { header: header as CassetteHeader, definitions, calls };
}

function textOf(file: string | URL): string {
  try {
    return fileSystem().readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as { readonly code?: unknown }).code !== 'ENOENT') throw cause;
    throw new AgentError(
      'invalid_option',
      `There is no cassette ${String(file)}. Record it with recordModel(driver, file).`,
      { cause, details: { option: 'file' } },
    );
  }
}

function parsed(file: string | URL, line: string, number: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (isRecord(value)) return value;
  } catch {
    // no JSON
  }
  throw broken(file, number, 'one JSON object');
}

const broken = (file: string | URL, line: number, expected: string): AgentError =>
  new AgentError(
    'invalid_option',
    `Line ${line} of the cassette ${String(file)} cannot be read, expected ${expected}. Record it again.`,
    { details: { option: 'file', line } },
  );
