import { MAX_PATTERN } from './pattern.ts';

/** A format that reads its text a fixed number of times; `most` is the longest length that can match. */
export interface Format {
  readonly most?: number;
  test(text: string): boolean;
}

/**
 * Whether a text has only these characters and valid percent encodings. Searches for the first other character, which
 * takes linear time.
 */
const onlyOf = (allowed: string): ((text: string) => boolean) => {
  const other = new RegExp(`[^${allowed}%]|%(?![\\da-f]{2})`, 'i');
  return (text) => !other.test(text);
};
const CHARS = String.raw`\w\-.~!$&'()*+,;=`;
const isUserInfo = /* @__PURE__ */ onlyOf(`${CHARS}:`);
const isHostName = /* @__PURE__ */ onlyOf(CHARS);
const isPath = /* @__PURE__ */ onlyOf(`${CHARS}:@/`);
const isQuery = /* @__PURE__ */ onlyOf(`${CHARS}:@/?`);

// the parts of RFC 3986, each ended by a character that it cannot contain
const URI_PARTS = /^(?:([^:/?#]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([^]*))?$/;

function isUri(text: string, needsScheme: boolean): boolean {
  const parts = URI_PARTS.exec(text);
  if (parts === null) return false;
  const [, scheme, authority, path = '', query = '', fragment = ''] = parts;
  if (scheme === undefined ? needsScheme : !/^[a-z][a-z\d+\-.]*$/i.test(scheme)) return false;
  if (needsScheme && authority === undefined && path === '') return false;
  return (
    (authority === undefined || isAuthority(authority)) &&
    isPath(path) &&
    isQuery(query) &&
    isQuery(fragment)
  );
}

function isAuthority(text: string): boolean {
  const at = text.indexOf('@');
  const place = text.slice(at + 1);
  if (at >= 0 && !isUserInfo(text.slice(0, at))) return false;
  const literal = /^\[([^\]]*)\](?::\d*)?$/.exec(place);
  if (literal)
    return isIpv6(literal[1] ?? '') || /^v[\da-f]+\.[\w\-.~!$&'()*+,;=:]+$/i.test(literal[1] ?? '');
  const colon = place.indexOf(':');
  if (colon >= 0 && !/^\d*$/.test(place.slice(colon + 1))) return false;
  return isHostName(colon < 0 ? place : place.slice(0, colon));
}

/** Whether it is a web URL: `http`, `https` or `ftp` with a host. */
function isUrl(text: string): boolean {
  const [, host] = /^(?:https?|ftp):\/\/([^/?#]*)/i.exec(text) ?? [];
  // parsing a host with non-ASCII letters is not linear
  if (!host || host.length > 1_024 || /\s/.test(text)) return false;
  try {
    return new URL(text).hostname !== '';
  } catch {
    return false;
  }
}

function isUriTemplate(text: string): boolean {
  const [first = '', ...rest] = text.split('{');
  const isLiteral = (literal: string): boolean =>
    // oxlint-disable-next-line no-control-regex -- RFC 6570 names them
    !/[\x00-\x20\x7f"<>\\^`{|}]|%(?![\da-f]{2})/i.test(literal);
  return (
    isLiteral(first) &&
    rest.every((part) => {
      const end = part.indexOf('}');
      if (end < 0 || !isLiteral(part.slice(end + 1))) return false;
      const names = part.slice(/^[+#./;?&=,!@|]/.test(part) ? 1 : 0, end).split(',');
      return names.every(isTemplateName);
    })
  );
}

const isNameText = /* @__PURE__ */ onlyOf(String.raw`\w.`);
function isTemplateName(text: string): boolean {
  const name = text.replace(/(?::[1-9]\d{0,3}|\*)$/, '');
  return isNameText(name) && name.split('.').every((word) => word !== '');
}

const HOSTNAME = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
const isHost = (text: string): boolean => text.length <= 253 && HOSTNAME.test(text);

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|[01]?\d\d?)\.){3}(?:25[0-5]|2[0-4]\d|[01]?\d\d?)$/;
const isIpv4 = (text: string): boolean => text.length <= 15 && IPV4.test(text);

function isIpv6(text: string): boolean {
  if (text.length > 45) return false;
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1) ?? '';
  const hasIpv4 = last.includes('.');
  // an IPv4 address replaces the last two groups, at the end
  if (hasIpv4 && (!isIpv4(last) || text.endsWith('::'))) return false;
  const hex = hasIpv4 ? groups.slice(0, -1) : groups;
  const count = hex.length + (hasIpv4 ? 2 : 0);
  return (
    hex.every((group) => /^[\da-f]{1,4}$/i.test(group)) &&
    (halves.length === 2 ? count <= 7 : count === 8)
  );
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const name = text.slice(0, Math.max(at, 0));
  const host = text.slice(at + 1);
  if (name === '' || name.length > 64) return false;
  const isName = name.startsWith('"')
    ? /^"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"$/.test(name)
    : /^[a-z\d.!#$%&'*+/=?^_`{|}~-]+$/i.test(name) && !/^\.|\.\.|\.$/.test(name);
  if (!isName) return false;
  const literal = /^\[(ipv6:)?(.*)\]$/i.exec(host);
  if (literal) return literal[1] ? isIpv6(literal[2] ?? '') : isIpv4(literal[2] ?? '');
  return isHost(host);
}

function isDate(text: string): boolean {
  const [, year = 0, month = 0, day = 0] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number);
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  return day >= 1 && day <= days;
}

function isTime(text: string): boolean {
  const parts = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i.exec(text);
  if (parts === null) return false;
  const [, hour, minute, second, , awayHour, awayMinute] = parts.map((part) => Number(part ?? 0));
  if (hour === undefined || minute === undefined || second === undefined) return false;
  const away = (awayHour ?? 0) * 60 + (awayMinute ?? 0);
  if (hour > 23 || minute > 59 || second > 60 || (awayHour ?? 0) > 23 || (awayMinute ?? 0) > 59)
    return false;
  const utc = hour * 60 + minute - (parts[4] === '-' ? -away : away);
  // a leap second ends the day
  return second < 60 || (utc + 1_440) % 1_440 === 1_439;
}

const TIMES = String.raw`T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)`;
const DURATION = /* @__PURE__ */ new RegExp(
  String.raw`^P(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)(?:${TIMES})?|${TIMES})$`,
);

const isPointer = (text: string): boolean => /^(?:\/|$)/.test(text) && !/~(?![01])/.test(text);
const isFragment = /* @__PURE__ */ onlyOf(String.raw`\w\-.!$&'()*+,;:=@~/`);

function isRegex(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

/** Formats by name. A map, because the names come from schemas. */
export const formats: ReadonlyMap<string, Format> = /* @__PURE__ */ new Map<string, Format>([
  ['date', { most: 10, test: isDate }],
  ['time', { test: isTime }],
  [
    'date-time',
    {
      test: (text) =>
        /^[t\s]$/i.test(text.charAt(10)) && isDate(text.slice(0, 10)) && isTime(text.slice(11)),
    },
  ],
  ['duration', { test: (text) => DURATION.test(text) }],
  ['uri', { test: (text) => isUri(text, true) }],
  ['uri-reference', { test: (text) => isUri(text, false) }],
  ['uri-template', { test: isUriTemplate }],
  ['url', { test: isUrl }],
  ['email', { most: 318, test: isEmail }],
  ['hostname', { most: 253, test: isHost }],
  ['ipv4', { most: 15, test: isIpv4 }],
  ['ipv6', { most: 45, test: isIpv6 }],
  ['regex', { most: MAX_PATTERN, test: isRegex }],
  ['uuid', { most: 36, test: (text) => /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i.test(text) }],
  ['json-pointer', { test: isPointer }],
  [
    'json-pointer-uri-fragment',
    {
      test: (text) => text.startsWith('#') && isPointer(text.slice(1)) && isFragment(text.slice(1)),
    },
  ],
  [
    'relative-json-pointer',
    {
      test: (text) =>
        /^(?:0|[1-9]\d*)(?:[#/]|$)/.test(text) &&
        isPointer(text.replace(/^\d+#?/, '')) &&
        !/^\d+#./s.test(text),
    },
  ],
]);
