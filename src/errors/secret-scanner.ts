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

/** Text that arrives in pieces, without the secrets in it. */
export interface TextStream {
  /** What may be shown now. */
  push(piece: string): string;
  /** The rest, at the end of the text. */
  end(): string;
}

/** Where a secret may begin, or its value. To look behind comes last and is bounded: it never runs over more than a word. */
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

/** Whether there is anything to look at. */
export function hasTrigger(text: string): boolean {
  trigger.lastIndex = 0;
  return trigger.test(text);
}

/** What has to be there for anything above to match; most pieces of prose have none of it. */
const hint =
  /[-:=_%>/]|eyJ|A(?:KI|SI|ID|RO)A|AIza|AT[AC]TT|SG\.|SK[a-f\d]|EAA|LTAI|dapi|ya29|hv[sbr]\.|dp\.|[Bb]earer|BEARER|[Bb]asic|BASIC|pass|secret|token|key/;
/** One less than the longest of these: a tail that is longer would make strings that engines are slow with. */
const HINT_TAIL = 5;
/** Characters behind a hint that are looked at closely. */
const WARM = 16;

/** No trigger is longer: one that is split is found in the next piece. */
const LONGEST_TRIGGER = 12;
/** How much of what was shown is kept, to look for a name in: longer than any with its signs. */
const CONTEXT = 192;
/** Cut now and then: to cut a text means to copy it. */
const MOST_KEPT = 768;

/** The beginning of a key that has not come as a whole. */
const openBegin = /-{3,5}(?:B(?:E(?:G(?:IN?)?)?)?)?$/;

const LONGEST_PIECE = 4_096;

/**
 * Leaves secrets out of a text, whole or in pieces. It never looks at much more than the newest piece: what may turn out to
 * be a secret is held back up to a bound, and once it has turned out to be one, the rest is left out as it comes.
 */
export class SecretScanner implements TextStream {
  readonly #kindOf: Reading['kindOf'];
  /** What was shown last, then what is held back. */
  #text = '';
  #shown = 0;
  /** Where the next trigger is looked for. */
  #at = 0;
  #floor = 0;
  #hiding: Hiding | null = null;
  /** The very end of what has come. */
  #tail = '';
  /** Characters to come that are looked at closely. */
  #warm = 0;
  #visited = 0;

  constructor(kindOf: Reading['kindOf']) {
    this.#kindOf = kindOf;
  }

  /** Characters that were looked at, as often as they were: what tests count. */
  get visited(): number {
    return this.#visited;
  }

  /** Long pieces are read in parts: what follows a secret is copied, and should not be all of the rest. */
  push(piece: string): string {
    if (piece.length <= LONGEST_PIECE) return this.#take(piece);
    let shown = '';
    for (let at = 0; at < piece.length; at += LONGEST_PIECE)
      shown += this.#take(piece.slice(at, at + LONGEST_PIECE));
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
      this.#at = Math.max(this.#at, this.#shown - LONGEST_TRIGGER);
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
      if (this.#hiding !== null && !this.#leaveOut(this.#hiding, isEnd)) return output;
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
    this.#at = Math.max(this.#at, length - LONGEST_TRIGGER);
    return output + this.#show(isEnd ? length : length - openLength(this.#text));
  }

  #judge(match: string, index: number, isEnd: boolean): ScanResult {
    const reading = { text: this.#text, floor: this.#floor, isEnd, kindOf: this.#kindOf };
    switch (match) {
      case '://':
        return judgeAddress(reading, index);
      case ':':
        // more may come that makes it an address
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

  /** False while all that has come is part of the secret. */
  #leaveOut(hiding: Hiding, isEnd: boolean): boolean {
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

  /** What was not shown, up to there. */
  #show(end: number): string {
    const shown = this.#text.slice(this.#shown, Math.max(end, this.#shown));
    this.#shown = Math.max(end, this.#shown);
    return shown;
  }

  #trim(): void {
    if (this.#shown <= MOST_KEPT) return;
    const cut = this.#shown - CONTEXT;
    this.#text = this.#text.slice(cut);
    this.#shown -= cut;
    this.#at = Math.max(this.#at - cut, 0);
    this.#floor = Math.max(this.#floor - cut, 0);
  }
}

/** How much of the end must wait: dashes may begin a key. */
const openLength = (text: string): number =>
  /[-BEGIN]$/.test(text.slice(-1)) ? (openBegin.exec(text.slice(-10))?.[0].length ?? 0) : 0;
