import type { Hiding } from './hiding.ts';
import { judgeKeyValue } from './key-value.ts';
import type { Reading, ScanResult } from './reading.ts';
import {
  judgeAddress,
  judgeBasic,
  judgeBearer,
  judgeJwt,
  judgePem,
  judgeToken,
  judgeWebhook,
} from './secret-shapes.ts';
import { tokenStart } from './secret-tokens.ts';

/** Text that arrives in chunks, without its secrets. */
export interface TextStream {
  /** Returns what may be shown now. */
  push(piece: string): string;
  /** Returns the rest, at the end of the text. */
  end(): string;
}

/**
 * Positions where a secret or its value may start. Lookbehinds come last and are bounded: they never read more than a
 * word.
 */
const trigger = /* @__PURE__ */ (() =>
  new RegExp(
    [
      ':\\/\\/',
      '[:=]',
      '%3[Dd]',
      '[ \\t](?<=--[A-Za-z][\\w-]{1,63}[ \\t])',
      '>(?<=<[\\w.:-]{2,64}>)',
      '-----BEGIN ',
      '(?<![A-Za-z0-9])eyJ',
      '(?<![A-Za-z])(?:[Bb]earer|BEARER|[Bb]asic|BASIC)\\s',
      '(?:is|was) (?<=(?:password|passphrase|passcode|secret|token|key) (?:is|was) )',
      '\\/(?<=hooks\\.slack\\.com\\/[a-z]{1,16}\\/|discord(?:app)?\\.com\\/api\\/(?:v\\d{1,2}\\/)?webhooks\\/|webhook\\.office\\.com\\/webhookb2\\/)',
      tokenStart,
    ].join('|'),
    'g',
  ))();

/** Whether there is anything to check. */
export function hasTrigger(text: string): boolean {
  trigger.lastIndex = 0;
  return trigger.test(text);
}

/** Characters that any match above needs; most prose has none of them. */
const hint =
  /[-:=_%>/]|eyJ|A(?:KI|SI|ID|RO)A|AIza|AT[AC]TT|SG\.|SK[a-f\d]|EAA|LTAI|dapi|ya29|hv[sbr]\.|dp\.|[Bb]earer|BEARER|[Bb]asic|BASIC|pass|secret|token|key/;
/** One less than the longest hint. A longer tail would create strings that engines handle slowly. */
const HINT_TAIL = 5;
/** Characters after a hint to check closely. */
const WARM = 16;

/** Maximum characters of a trigger: a split one is found in the next chunk. */
const MAX_TRIGGER = 12;
/** Characters of shown text to keep, to find a name in: longer than any name. */
const CONTEXT = 192;
/** Length at which shown text is trimmed; rarely, because that copies the text. */
const MAX_KEPT = 768;

/** The start of an incomplete key. */
const openBegin = /-{3,5}(?:B(?:E(?:G(?:IN?)?)?)?)?$/;

const MAX_PIECE = 4_096;

/**
 * Removes secrets from a text, whole or in chunks. It never reads much more than the newest chunk: a possible secret
 * is held back up to a bound, and once it is one, the rest is skipped as it arrives.
 */
export class SecretScanner implements TextStream {
  readonly #kindOf: Reading['kindOf'];
  /** The last shown text, then the held text. */
  #text = '';
  #shown = 0;
  /** Position of the search for the next trigger. */
  #at = 0;
  #floor = 0;
  #hiding: Hiding | null = null;
  /** The very end of the text so far. */
  #tail = '';
  /** Following characters to check closely. */
  #warm = 0;
  #visited = 0;

  constructor(kindOf: Reading['kindOf']) {
    this.#kindOf = kindOf;
  }

  /** Characters that were read, counting repeats: for tests. */
  get visited(): number {
    return this.#visited;
  }

  /** Reads long chunks in parts, because the text after a secret is copied. */
  push(piece: string): string {
    if (piece.length <= MAX_PIECE) return this.#take(piece);
    let shown = '';
    for (let at = 0; at < piece.length; at += MAX_PIECE)
      shown += this.#take(piece.slice(at, at + MAX_PIECE));
    return shown;
  }

  #take(piece: string): string {
    const seen = this.#tail + piece;
    this.#tail = seen.length > HINT_TAIL ? seen.slice(-HINT_TAIL) : seen;
    if (this.#hiding !== null || hint.test(seen)) this.#warm = WARM + piece.length;
    const isIdle = this.#shown === this.#text.length;
    this.#text += piece;
    if (isIdle && this.#warm <= 0) {
      this.#visited += seen.length;
      this.#shown = this.#text.length;
      this.#at = Math.max(this.#at, this.#shown - MAX_TRIGGER);
      this.#trim();
      return piece;
    }
    this.#warm -= piece.length;
    const output = this.#scan(false);
    this.#trim();
    return output;
  }

  end(): string {
    return this.#scan(true);
  }

  #scan(isEnd: boolean): string {
    let output = '';
    this.#visited += this.#text.length - this.#at;
    for (;;) {
      if (this.#hiding !== null && !this.#skipSecret(this.#hiding, isEnd)) return output;
      trigger.lastIndex = this.#at;
      const match = trigger.exec(this.#text);
      if (match === null) break;
      const result = this.#judge(match[0], match.index, isEnd);
      if (result === null) {
        this.#at = match.index;
        return output + this.#show(match.index);
      }
      if (typeof result === 'number') this.#at = Math.max(result, match.index + 1);
      else {
        output += this.#show(result.from) + result.mark;
        this.#shown = this.#at = this.#floor = result.to;
        this.#hiding = result.hiding;
      }
    }
    const { length } = this.#text;
    this.#at = Math.max(this.#at, length - MAX_TRIGGER);
    return output + this.#show(isEnd ? length : length - openLength(this.#text));
  }

  #judge(match: string, index: number, isEnd: boolean): ScanResult {
    const reading = { text: this.#text, floor: this.#floor, isEnd, kindOf: this.#kindOf };
    switch (match) {
      case '://':
        return judgeAddress(reading, index);
      case ':':
        // more text may make it a URL
        if (!isEnd && '://'.startsWith(this.#text.slice(index, index + 3))) return null;
        return judgeKeyValue(reading, index, match);
      case '=':
      case '>':
      case ' ':
      case '\t':
      case '%3D':
      case '%3d':
      case 'is ':
      case 'was ':
        return judgeKeyValue(reading, index, match);
      case '-----BEGIN ':
        return judgePem(reading, index);
      case 'eyJ':
        return judgeJwt(reading, index);
      default:
        if (/^bearer\s$/i.test(match)) return judgeBearer(reading, index);
        if (/^basic\s$/i.test(match)) return judgeBasic(reading, index);
        return match === '/' ? judgeWebhook(reading, index) : judgeToken(reading, index);
    }
  }

  /** Returns false while all of the text is part of the secret. */
  #skipSecret(hiding: Hiding, isEnd: boolean): boolean {
    const at = hiding.feed(this.#text, this.#at);
    if (at < 0 && !isEnd) {
      this.#restart('');
      return false;
    }
    this.#hiding = null;
    const rest = hiding.rest();
    if (rest !== '' || at < 0) this.#restart(rest + (at < 0 ? '' : this.#text.slice(at)));
    else this.#shown = this.#at = this.#floor = at;
    return true;
  }

  #restart(text: string): void {
    this.#text = text;
    this.#shown = this.#at = this.#floor = 0;
  }

  /** Returns the text that was not shown, up to this position. */
  #show(end: number): string {
    const shown = this.#text.slice(this.#shown, Math.max(end, this.#shown));
    this.#shown = Math.max(end, this.#shown);
    return shown;
  }

  #trim(): void {
    if (this.#shown <= MAX_KEPT) return;
    const cut = this.#shown - CONTEXT;
    this.#text = this.#text.slice(cut);
    this.#shown -= cut;
    this.#at = Math.max(this.#at - cut, 0);
    this.#floor = Math.max(this.#floor - cut, 0);
  }
}

/** Returns how many characters at the end must wait: dashes may start a key. */
const openLength = (text: string): number =>
  /[-BEGIN]$/.test(text.slice(-1)) ? (openBegin.exec(text.slice(-10))?.[0].length ?? 0) : 0;
