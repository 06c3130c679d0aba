import type { Pattern } from './pattern.ts';
import type { Program } from './pattern-program.ts';

/** A pattern that follows all possibilities of its automaton at once. */
export const programPattern = (program: Program): Pattern => ({
  test: (text) => runOf(program).matches([...text]),
});

const runs = /* @__PURE__ */ new WeakMap<Program, PatternRun>();

/** Returns the cached run of a program, which shares its transitions between texts. */
function runOf(program: Program): PatternRun {
  const known = runs.get(program) ?? new PatternRun(program);
  runs.set(program, known);
  return known;
}

/** A set of current states of the automaton, and the next set for each character. */
interface Place {
  readonly states: readonly number[];
  readonly isEnd: boolean;
  readonly next: Map<string, Place>;
}

const MOST_PLACES = 500;
const MOST_NEXT = 1_000;
/** Most states visited for one text, about 100 ms of work; cached transitions do not count. */
const MOST_WORK = 2_000_000;

class TooMuchWork extends Error {}

const isWord = (char: string | undefined): boolean => char !== undefined && /^\w$/.test(char);

class PatternRun {
  readonly #program: Program;
  readonly #eaters: readonly ((char: string) => boolean)[];
  /** Whether states depend on surrounding characters, by a lookaround or a word boundary. */
  readonly #looksAround: boolean;
  #work = 0;
  #places = new Map<string, Place>();

  constructor(program: Program) {
    this.#program = program;
    const eaters = new Map<string, (char: string) => boolean>();
    this.#eaters = program.ops.map((op) => {
      if (op.op !== 'eat') return () => false;
      const eater = eaters.get(op.source) ?? eaterOf(op.source);
      eaters.set(op.source, eater);
      return eater;
    });
    this.#looksAround = program.ops.some(
      (op) => op.op === 'look' || (op.op === 'edge' && op.of.startsWith('\\')),
    );
  }

  matches(chars: readonly string[]): boolean | undefined {
    let isFound = false;
    try {
      this.#read(chars, (_at, isEnd) => (isFound ||= isEnd));
      return isFound;
    } catch (error) {
      if (error instanceof TooMuchWork) return undefined;
      throw error;
    }
  }

  /** Returns for every position in the text whether a match ends there. */
  endsIn(chars: readonly string[]): Uint8Array {
    const ends = new Uint8Array(chars.length + 1);
    this.#read(chars, (at, isEnd) => {
      if (isEnd) ends[at] = 1;
      return false;
    });
    return ends;
  }

  /** Calls `seen` for each position with whether a match ends there, until it returns true. */
  #read(chars: readonly string[], seen: (at: number, isEnd: boolean) => boolean): void {
    const { start, isBackward } = this.#program;
    const holds = this.#holdsIn(chars);
    this.#work = 0;
    const step = isBackward ? -1 : 1;
    let at = isBackward ? chars.length : 0;
    let place = this.#placeOf([start], holds, at, false);
    for (let left = chars.length; !seen(at, place.isEnd) && left > 0; left--) {
      const char = chars[isBackward ? at - 1 : at] ?? '';
      at += step;
      place = this.#after(place, char, holds, at, left > 1 && !this.#looksAround);
    }
  }

  /** Returns the states after a character. `isShared` means that they depend only on the character and are cached. */
  #after(place: Place, char: string, holds: Holds, at: number, isShared: boolean): Place {
    const known = isShared ? place.next.get(char) : undefined;
    if (known) return known;
    const { ops, start } = this.#program;
    // a match may start anywhere
    const reached = [start];
    for (const state of place.states) {
      const op = ops[state];
      if (op?.op === 'eat' && this.#eaters[state]?.(char)) reached.push(op.next);
    }
    const next = this.#placeOf(reached, holds, at, isShared);
    this.#work += place.states.length;
    if (this.#work > MOST_WORK) throw new TooMuchWork();
    if (place.next.size >= MOST_NEXT) place.next.clear();
    if (isShared) place.next.set(char, next);
    return next;
  }

  /** Collects all states that are reached from these without reading a character. */
  #placeOf(from: readonly number[], holds: Holds, at: number, isShared: boolean): Place {
    const { ops } = this.#program;
    const seen = new Set<number>();
    const open = [...from];
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      if (seen.has(state)) continue;
      seen.add(state);
      const op = ops[state];
      if (op?.op === 'split') open.push(...op.to);
      else if ((op?.op === 'edge' || op?.op === 'look') && holds(state, at)) open.push(op.next);
    }
    const states = [...seen].filter((state) => ops[state]?.op === 'eat');
    const isEnd = seen.has(0);
    this.#work += seen.size;
    if (!isShared) return { states, isEnd, next: new Map() };
    const key = `${isEnd} ${states.toSorted((a, b) => a - b).join()}`;
    const known = this.#places.get(key);
    if (known) return known;
    if (this.#places.size >= MOST_PLACES) this.#places.clear();
    const made: Place = { states, isEnd, next: new Map() };
    this.#places.set(key, made);
    return made;
  }

  /** Returns a test of whether an edge or a lookaround holds at a position of the text. */
  #holdsIn(chars: readonly string[]): Holds {
    const looks = new Map<number, Uint8Array>();
    return (state, at) => {
      const op = this.#program.ops[state];
      if (op?.op === 'look') {
        const ends = looks.get(state) ?? runOf(op.program).endsIn(chars);
        looks.set(state, ends);
        return (ends[at] === 1) !== op.isNegative;
      }
      if (op?.op !== 'edge') return false;
      if (op.of === '^') return at === 0;
      if (op.of === '$') return at === chars.length;
      return (isWord(chars[at - 1]) !== isWord(chars[at])) === (op.of === '\\b');
    };
  }
}

type Holds = (state: number, at: number) => boolean;

/** Creates a test of one character, which caches the engine's result. */
function eaterOf(source: string): (char: string) => boolean {
  if (source === '.') return (char) => !/^[\n\r\u2028\u2029]$/.test(char);
  const one = new RegExp(`^${source}$`, 'u');
  const known = new Map<string, boolean>();
  return (char) => {
    const answer = known.get(char) ?? one.test(char);
    if (known.size >= MOST_NEXT) known.clear();
    known.set(char, answer);
    return answer;
  };
}
