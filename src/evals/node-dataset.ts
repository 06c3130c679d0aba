import { readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AgentError } from '../errors/agent-error.ts';
import { messageOf } from '../errors/error-record.ts';
import { EXPORT_FORMAT, parseExport } from '../exports/index.ts';
import { isRecord, parseJson } from '../json.ts';
import { bytesText } from '../number-text.ts';
import type { EvalCase } from './eval-case.ts';
import { caseFromExport } from './session-cases.ts';
import { parseDataset, type DatasetFormat, type ParseYaml } from './parse-dataset.ts';

/** Maximum size of a dataset file. */
const MAX_BYTES = 100_000_000;

const formats: Readonly<Record<string, DatasetFormat>> = {
  '.json': 'json',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.yaml': 'yaml',
  '.yml': 'yaml',
};

/**
 * Reads the cases of a file: JSON, JSON Lines or YAML, by its ending. Name it relative to your module with
 * `new URL('./cases.jsonl', import.meta.url)`; a path is relative to the working folder. YAML needs the `yaml` package.
 * What `onward export` writes is a dataset of one case.
 */
export async function readDataset(file: string | URL): Promise<readonly EvalCase[]> {
  const path = typeof file === 'string' ? file : fileURLToPath(file);
  const format = formats[extname(path).toLowerCase()];
  if (!format)
    throw new AgentError(
      'invalid_option',
      `readDataset got ${path}, expected a file that ends with ${Object.keys(formats).join(', ')}.`,
    );
  const text = await readText(path);
  if (format === 'jsonl' && isExport(text)) {
    const found = caseFromExport(await parseExport(text));
    return found ? [found] : [];
  }
  return parseDataset(path, text, format, format === 'yaml' ? await loadYaml(path) : undefined);
}

/** Whether a text begins like the export of a session. */
function isExport(text: string): boolean {
  const first = parseJson(text.slice(0, text.indexOf('\n')));
  return first.ok && isRecord(first.value) && first.value['format'] === EXPORT_FORMAT;
}

async function readText(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES)
      throw new Error(`it has ${bytesText(size)}, expected at most ${bytesText(MAX_BYTES)}`);
    return (await readFile(path, 'utf8')).replace(/^\ufeff/, '');
  } catch (cause) {
    throw new AgentError(
      'invalid_option',
      `The dataset ${path} could not be read: ${messageOf(cause)}`,
      { cause },
    );
  }
}

async function loadYaml(path: string): Promise<ParseYaml> {
  const yaml = await import('yaml').catch((cause: unknown) => {
    throw new AgentError(
      'package_missing',
      `${path} is YAML, which needs a package that is not installed. Run: npm install --save-dev yaml`,
      { cause, details: { package: 'yaml' } },
    );
  });
  // the parser runs no code, and refuses documents whose aliases multiply
  return (text) => yaml.parse(text, { maxAliasCount: 100, logLevel: 'error' }) as unknown;
}
