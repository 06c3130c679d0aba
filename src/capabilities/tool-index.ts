import { isRecord } from '../json.ts';
import type { AnyTool } from '../tools/tool.ts';
import { searchTerms } from './search-terms.ts';

/** How much a word counts, by the field that has it. */
const NAME = 4;
const PARAMETER = 1.5;
const DESCRIPTION = 1;
/** Share of a word that only begins with the searched one. */
const BEGINNING = 0.5;
/** Most words of one query, and most words that begin with one of them. */
const MAX_QUERY_TERMS = 16;
const MAX_BEGINNINGS = 50;
/** Fewest characters of the beginning of a word. */
const MIN_BEGINNING = 3;
const MAX_PARAMETERS = 50;

/** An index over the names, descriptions and parameters of tools. */
export class ToolIndex {
  readonly #tools: readonly AnyTool[];
  /** By word: the weight of the word in each tool that has it. */
  readonly #postings = new Map<string, Map<number, number>>();
  readonly #words: readonly string[];

  constructor(tools: Iterable<AnyTool>) {
    this.#tools = [...tools];
    for (const [i, tool] of this.#tools.entries()) {
      this.#add(i, tool.name, NAME);
      this.#add(i, tool.description, DESCRIPTION);
      this.#add(i, parameterText(tool), PARAMETER);
    }
    this.#words = [...this.#postings.keys()].toSorted();
  }

  #add(tool: number, text: string, weight: number): void {
    for (const term of searchTerms(text)) {
      const posting = this.#postings.get(term) ?? new Map<number, number>();
      // a word that is repeated counts once, at its best place
      posting.set(tool, Math.max(posting.get(tool) ?? 0, weight));
      this.#postings.set(term, posting);
    }
  }

  /** Returns the tools that match, the best first; equal ones by name. The same for the same tools and query. */
  search(query: string, isWanted: (name: string) => boolean): readonly AnyTool[] {
    const scores = new Map<number, number>();
    const terms = new Set(searchTerms(query).slice(0, MAX_QUERY_TERMS));
    for (const term of terms)
      for (const [tool, score] of this.#scoresOf(term))
        scores.set(tool, (scores.get(tool) ?? 0) + score);
    return [...scores]
      .flatMap(([i, score]) => {
        const tool = this.#tools[i];
        return tool && isWanted(tool.name) ? [{ tool, score }] : [];
      })
      .toSorted((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
      .map(({ tool }) => tool);
  }

  /** Scores of one word; a tool counts with the best of its words. */
  #scoresOf(term: string): ReadonlyMap<number, number> {
    const scores = new Map<number, number>();
    const add = (word: string, share: number): void => {
      const posting = this.#postings.get(word);
      if (!posting) return;
      // a word that many tools have says little about each
      const rarity = Math.log(1 + this.#tools.length / posting.size);
      for (const [tool, weight] of posting)
        scores.set(tool, Math.max(scores.get(tool) ?? 0, weight * rarity * share));
    };
    add(term, 1);
    if (term.length < MIN_BEGINNING) return scores;
    const first = this.#firstAt(term);
    for (let i = first; i < first + MAX_BEGINNINGS; i++) {
      const word = this.#words[i];
      if (word === undefined || !word.startsWith(term)) break;
      if (word !== term) add(word, BEGINNING);
    }
    return scores;
  }

  /** Index of the first word that is not before the given one. */
  #firstAt(term: string): number {
    let low = 0;
    let high = this.#words.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#words[middle] ?? '') < term) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function parameterText({ jsonSchema }: AnyTool): string {
  const { properties } = jsonSchema;
  if (!isRecord(properties)) return '';
  return Object.entries(properties)
    .slice(0, MAX_PARAMETERS)
    .map(([name, schema]) => {
      const { description }: { description?: unknown } = isRecord(schema) ? schema : {};
      return `${name} ${typeof description === 'string' ? description.slice(0, 100) : ''}`;
    })
    .join(' ');
}
