import { Block, Quoted, Run, Until } from './hiding.ts';
import { keyBefore, type SecretKey } from './key-before.ts';
import { found, matchEnd, REDACTED, type Reading, type ScanResult } from './reading.ts';
import { isReference, looksSecret } from './secret-words.ts';

/** Maximum characters of a word. */
const MAX_WORD = 128;
const MAX_BLANKS = 64;
const MAX_LINE = 200;

/** Up to the next blank or separator; a backslash belongs to it unless it escapes something. */
const word = /(?:[^\s,;"'`\\]|\\(?![nrtu"'`\\/])){0,129}/y;
const wordBody = /(?:[^\s,;"'`\\.!?)\]}>:]|\\(?![nrtu"'`\\/]|$))+/y;
/** The same in a query or an environment. */
const assigned = /(?:[^\s&,;"'`\\]|\\(?![nrtu"'`\\/])){0,129}/y;
const assignedBody = /(?:[^\s&,;"'`\\.!?)\]}>:]|\\(?![nrtu"'`\\/]|$))+/y;
const joint = /[.!?)\]}>:]+|\\+$/y;
const blanks = /[ \t]{0,65}/y;
const space = /\s{0,65}/y;
const emphasis = /\*{0,3}/y;
const opening = /\\{0,31}(?:"""|'''|["'`])/y;
const literalPrefix = /[bruf]{1,2}(?=["'])/iy;

const lineEnd = /\r?\n|\\+[nr]/g;
const lineOrQuoteEnd = /\r?\n|\\+[nr"']|["'`]/g;
const tagText = /[^\s<>]{0,129}/y;
const tagBody = /[^\s<>]+/y;
const nothing = /(?!)/y;

/** Schemes of an `Authorization` header, and those with more than one word. */
const scheme =
  /^(?:basic|bearer|token|negotiate|ntlm|apikey|key|bot|ssws|dpop|geniekey|(digest|aws4-hmac-sha256|hmac\S*|signature|oauth|hawk|mac))$/i;

/** Checks a separator at `at`: whether there is the name of a secret before it, and a value after it. */
export function judgeKeyValue(reading: Reading, at: number, separator: string): ScanResult {
  const { text } = reading;
  const behind = at + separator.length;
  const next = text.charAt(behind);
  if (separator === '=' && ('=!<>'.includes(text.charAt(at - 1)) || next === '=' || next === '~'))
    return behind;
  if (separator === ':' && (next === ':' || next === '=')) return behind;
  const key = keyBefore(reading, at);
  if (key === null) return behind;
  return judgeValue(reading, key, separator, behind);
}

function judgeValue(
  reading: Reading,
  key: SecretKey,
  separator: string,
  behind: number,
): ScanResult {
  const { text, isEnd } = reading;
  const isArrow = separator === '=' && text[behind] === '>';
  const start = matchEnd(emphasis, text, isArrow ? behind + 1 : behind);
  const begin = matchEnd(key.quote === '' && !isArrow ? blanks : space, text, start);
  if (begin - start > MAX_BLANKS) return begin;
  if (begin === text.length) return isEnd ? begin : null;
  if (separator === '>') return judgeTag(reading, begin);
  const quoted = judgeQuoted(reading, key, begin);
  if (quoted !== undefined) return quoted;
  const char = text.charAt(begin);
  if (char === '[' || char === '{') return judgeBrackets(reading, key, begin);
  if (char === '\n' || char === '\r') return judgeBlock(reading, key, begin);
  const isTight = begin === behind && separator !== ':' && !/\s/.test(separator);
  return isTight
    ? judgeAssigned(reading, key, begin)
    : judgeWord(reading, key, begin, separator === ':' || separator === '=');
}

/** Reads `<password>…</password>`; in a manual `<password>` is a placeholder. */
function judgeTag({ text, isEnd }: Reading, begin: number): ScanResult {
  const end = matchEnd(tagText, text, begin);
  if (end - begin > MAX_WORD) return found(begin, new Run(tagBody, nothing));
  if (end === text.length && !isEnd) return null;
  return end > begin && text[end] === '<' ? found(begin, null, end) : begin;
}

/** Undefined if there is no quote. */
function judgeQuoted({ text, isEnd }: Reading, key: SecretKey, at: number): ScanResult | undefined {
  const begin = matchEnd(literalPrefix, text, at);
  const end = matchEnd(opening, text, begin);
  if (end === begin) {
    const isOpen = !isEnd && /^(?:[bruf]{1,2}|\\{1,31})$/i.test(text.slice(at, at + 32));
    return isOpen ? null : undefined;
  }
  if (text.length - end < 32 && text.length - end < end - begin + 2 && !isEnd) return null;
  const quote = text.slice(begin, end);
  if (quote.length === 1 || quote.startsWith('\\'))
    if (text.startsWith(quote, end)) return end + quote.length;
  // after a name without quotes this may be the end of the surrounding string
  if (key.quote === '' && (end === text.length || /[\s,\]}:)]/.test(text.charAt(end)))) return end;
  const escapes = quote.lastIndexOf('\\') + 1;
  return found(end, new Quoted(quote.slice(escapes), escapes));
}

/** Reads a list or an object. In a sentence a bracket may be that of a link. */
function judgeBrackets({ text, isEnd }: Reading, key: SecretKey, begin: number): ScanResult {
  if (text.startsWith(REDACTED, begin)) return begin + REDACTED.length;
  const inner = matchEnd(space, text, begin + 1);
  if (inner === text.length && !isEnd && inner - begin < MAX_BLANKS) return null;
  const isSentence = key.quote === '' && !isCompound(key.name);
  if (isSentence && text[begin] === '[' && !/["'`\d[{]/.test(text.charAt(inner))) return begin + 1;
  if (text[begin + 1] === '{' && text[begin] === '{') return begin + 2;
  if (!isEnd && REDACTED.startsWith(text.slice(begin))) return null;
  const escapes = Math.max(key.quote.length - 1, 0);
  return { ...found(begin, new Quoted('', escapes)), mark: key.quote + REDACTED + key.quote };
}

const isCompound = (name: string): boolean => /[-_.]|[a-z][A-Z]/.test(name);

/** Reads `key:` at the end of a line of YAML, with its value in the lines below. */
function judgeBlock({ text, floor, isEnd }: Reading, key: SecretKey, begin: number): ScanResult {
  const indent = indentOf(text, floor, key);
  if (indent < 0) return begin;
  const next = matchEnd(/\r?\n/y, text, begin);
  const lineEnds = text.indexOf('\n', next);
  const isOpen = lineEnds < 0 && !isEnd;
  const line = text.slice(next, Math.min(lineEnds < 0 ? text.length : lineEnds, next + MAX_LINE));
  if (isOpen && line.length < MAX_LINE)
    return /^\s*(?:-\s*)?\S*\s*\S*\s*$/.test(line) ? null : begin;
  const isEntry = /^\s*(?:-\s+)?(?:["']?[\w.-]{1,64}["']?:\s*\S*|-\s\S+)\s*$/.test(line);
  return line.search(/\S/) > indent && isEntry ? blockFound(begin, indent) : begin;
}

const blockFound = (at: number, indent: number): ScanResult => ({
  ...found(at, new Block(indent)),
  mark: ` ${REDACTED}`,
});

/** Returns the indentation of the key's line; -1 if the key does not start it. */
function indentOf(text: string, floor: number, { start, quote }: SecretKey): number {
  if (quote !== '') return -1;
  let at = start;
  while (at > floor && start - at < MAX_BLANKS && ' \t-'.includes(text.charAt(at - 1))) at -= 1;
  return at === 0 || text[at - 1] === '\n' ? start - at : -1;
}

/** Reads `KEY=value` in an environment, a query or a call. */
function judgeAssigned(reading: Reading, key: SecretKey, begin: number): ScanResult {
  const { text, isEnd } = reading;
  const end = matchEnd(assigned, text, begin);
  const value = text.slice(begin, end);
  if (value === '') return begin;
  if (value.length <= MAX_WORD) {
    if (end === text.length && !isEnd) return null;
    if (isPlain(reading, key, value)) return end;
    if (key.isQueryOnly && !looksSecret(value)) return end;
  }
  return found(begin, new Run(assignedBody, joint));
}

/** Reads `key: value` in a header, in YAML or in a sentence. */
function judgeWord(
  reading: Reading,
  key: SecretKey,
  begin: number,
  isAssignment: boolean,
): ScanResult {
  const { text, floor, isEnd } = reading;
  const end = matchEnd(word, text, begin);
  const value = text.slice(begin, end);
  if (value === '') return begin;
  const isOpen = end === text.length && !isEnd && value.length <= MAX_WORD;
  if (isOpen) return null;
  const run = (): ScanResult => found(begin, new Run(wordBody, joint));
  if (value.length > MAX_WORD) return run();
  if (/cookies?$/i.test(key.name) && value.includes('='))
    return found(begin, new Until(isInQuotes(text, key) ? lineOrQuoteEnd : lineEnd));
  if (/authorization$/i.test(key.name) && scheme.test(value))
    return judgeCredentials(reading, key, begin, end);
  if (/^[|>][+-]?\d?$/.test(value)) {
    const indent = indentOf(text, floor, key);
    return indent >= 0 && /[\r\n]/.test(text.charAt(end)) ? blockFound(end, indent) : end;
  }
  if (isPlain(reading, key, value)) return end;
  if (/^[\d.,]+$/.test(value)) return key.kind === 'password' && value.length >= 4 ? run() : end;
  if (looksSecret(value)) return run();
  if (!isAssignment) return end;
  const after = matchEnd(blanks, text, end);
  if (after === text.length && !isEnd) return after - end > MAX_BLANKS ? end : null;
  const rest = text.slice(after, after + 2);
  const isOnlyWord = rest === '' || /^(?:[\r\n#"'`\\<]|\/\/)/.test(rest);
  return isOnlyWord || (isCompound(key.name) && /^[,;})]/.test(rest)) ? run() : end;
}

/** Whether it is a word about the secret, code that reads it, or the folder in PWD. */
const isPlain = ({ kindOf }: Reading, { name }: SecretKey, value: string): boolean =>
  isReference(value, (other) => kindOf(other) !== null) ||
  (/pwd$/i.test(name) && /^(?:[/~]|[A-Z]:\\)/.test(value));

const isInQuotes = (text: string, { start }: SecretKey): boolean =>
  /["'`]/.test(text.charAt(start - 1));

/** Reads `Authorization: Basic …`. */
function judgeCredentials(
  reading: Reading,
  key: SecretKey,
  begin: number,
  end: number,
): ScanResult {
  const { text, isEnd } = reading;
  const name = text.slice(begin, end);
  const next = matchEnd(blanks, text, end);
  if (next === end || next - end > MAX_BLANKS) return end;
  const valueEnd = matchEnd(word, text, next);
  const value = text.slice(next, valueEnd);
  if (valueEnd === text.length && !isEnd && value.length <= MAX_WORD) return null;
  if (value === '' || isReference(value, () => false)) return next;
  if (scheme.exec(name)?.[1] !== undefined)
    return found(next, new Until(isInQuotes(text, key) ? lineOrQuoteEnd : lineEnd));
  return found(/^bearer$/i.test(name) ? begin : next, new Run(wordBody, joint), next);
}
