import { AgentError, show, whole } from '../errors/agent-error.ts';
import { isHarmless, MOST_LEVELS, parseJson } from '../json.ts';
import { checkedRecord, notAnExport } from './check-export.ts';
import type { ExportRecord, SessionExport } from './session-export.ts';

/** An export: its text, pieces of its text or bytes as they arrive, such as a file's stream. */
export type ExportSource =
  | string
  | Iterable<string | Uint8Array>
  | AsyncIterable<string | Uint8Array>;

/** Bounds for an export from elsewhere. */
export interface ExportLimits {
  /** Most characters of one line. Default 32,000,000. */
  readonly maxLineCharacters?: number;
  /** Most characters in all. Default 4,000,000,000. */
  readonly maxCharacters?: number;
  /** Most lines. Default 5,000,000. */
  readonly maxRecords?: number;
}

/** A record with the number of its line, and its characters. */
export interface ReadRecord {
  readonly record: ExportRecord;
  readonly line: number;
  readonly characters: number;
}

/** Levels of a record around the JSON of a run, which has at most {@link MOST_LEVELS}. */
const OUTER_LEVELS = 16;

/** Reads and checks an export line by line. Throws at the first line that is not part of an export, or at its missing end. */
export async function* readExport(
  source: ExportSource,
  limits: ExportLimits = {},
): AsyncGenerator<ReadRecord, void, undefined> {
  const maxRecords = whole('maxRecords', limits.maxRecords ?? 5_000_000);
  let line = 0;
  let isOver = false;
  for await (const text of linesOf(source, limits)) {
    if (text.trim() === '') continue;
    line += 1;
    if (isOver) throw notAnExport(line, 'it follows the end', 'no more lines');
    if (line > maxRecords) throw tooLarge(`more than ${maxRecords} lines`, 'maxRecords');
    const parsed = parseJson(text);
    if (!parsed.ok) throw notAnExport(line, `it is not JSON (${parsed.error})`, 'one JSON object');
    if (!isHarmless(parsed.value, MOST_LEVELS + OUTER_LEVELS))
      throw notAnExport(line, 'its values are nested too deep', `at most ${MOST_LEVELS} levels`);
    const record = checkedRecord(parsed.value, line);
    isOver = record.type === 'end';
    if (record.type === 'end' && record.records !== line - 1)
      throw notAnExport(
        line,
        `it counts ${record.records} records`,
        `${line - 1}: lines are missing`,
      );
    yield { record, line, characters: text.length };
  }
  if (!isOver)
    throw notAnExport(
      line + 1,
      'the file ends',
      'a line with the type "end": the export is not complete',
    );
}

/** Reads a whole export into memory, for code that works on all of it. */
export async function parseExport(
  source: ExportSource,
  limits: ExportLimits = {},
): Promise<SessionExport> {
  return collected(recordsIn(readExport(source, limits)));
}

/** Collects the records of {@link exportSession} in memory. */
export async function collectExport(
  records: AsyncIterable<ExportRecord> | Iterable<ExportRecord>,
): Promise<SessionExport> {
  return collected(records);
}

/** Writes a record as the line of a file. */
export const exportLine = (record: ExportRecord): string => `${JSON.stringify(record)}\n`;

async function* recordsIn(read: AsyncIterable<ReadRecord>): AsyncGenerator<ExportRecord> {
  for await (const { record } of read) yield record;
}

type RecordOf<T extends ExportRecord['type']> = Extract<ExportRecord, { type: T }>;

async function collected(
  records: AsyncIterable<ExportRecord> | Iterable<ExportRecord>,
): Promise<SessionExport> {
  const kept: { [T in ExportRecord['type']]: RecordOf<T>[] } = {
    session: [],
    message: [],
    compaction: [],
    step: [],
    agent: [],
    call: [],
    event: [],
    end: [],
  };
  for await (const record of records) (kept[record.type] as ExportRecord[]).push(record);
  const [header] = kept.session;
  if (!header || kept.end.length === 0)
    throw notAnExport(
      1,
      'records are missing',
      'all records of a session, from its header to its end',
    );
  const { type: _, ...facts } = header;
  return {
    ...facts,
    messages: kept.message,
    compactions: kept.compaction,
    steps: kept.step,
    agents: kept.agent,
    calls: kept.call,
    events: kept.event,
  };
}

/** Splits a text that arrives in pieces into lines, and never holds more than one of them. */
async function* linesOf(source: ExportSource, limits: ExportLimits): AsyncGenerator<string> {
  const maxLine = whole('maxLineCharacters', limits.maxLineCharacters ?? 32_000_000);
  const maxAll = whole('maxCharacters', limits.maxCharacters ?? 4_000_000_000);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let begun: string[] = [];
  let length = 0;
  let all = 0;
  for await (const piece of typeof source === 'string' ? [source] : source) {
    const text = typeof piece === 'string' ? piece : decoded(decoder, piece);
    all += text.length;
    if (all > maxAll) throw tooLarge(`more than ${maxAll} characters`, 'maxCharacters');
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      const last = text.slice(from, end);
      if (length + last.length > maxLine) throw lineTooLong(maxLine);
      yield begun.length === 0 ? last : `${begun.join('')}${last}`;
      begun = [];
      length = 0;
      from = end + 1;
    }
    if (from === text.length) continue;
    const rest = text.slice(from);
    length += rest.length;
    if (length > maxLine) throw lineTooLong(maxLine);
    begun.push(rest);
  }
  if (begun.length > 0) yield begun.join('');
}

function decoded(decoder: TextDecoder, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes, { stream: true });
  } catch {
    throw notAnExport(1, 'the file is not UTF-8 text', 'what onward export wrote');
  }
}

const lineTooLong = (most: number): AgentError =>
  tooLarge(`a line with more than ${most} characters`, 'maxLineCharacters');

const tooLarge = (seen: string, option: keyof ExportLimits): AgentError =>
  new AgentError(
    'invalid_option',
    `The export has ${seen}. Raise ${show(option)} if you trust the file.`,
    { details: { option } },
  );
