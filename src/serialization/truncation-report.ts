import type { SlimTruncated } from './slim-state.ts';

/** Collects what a document omits, and which of that the execution needs. */
export class TruncationReport {
  turns = 0;
  messages = 0;
  contents = 0;
  args = 0;
  metadata = 0;
  steps = 0;
  redacted = 0;
  turnOverLimit = 0;
  /** Counts of omitted or changed parts of the execution itself. */
  readonly needed = { messages: 0, contents: 0, secrets: 0, results: 0 };
  readonly #argsOf = new Set<string>();
  readonly #others = new Set<string>();

  contentCut(isNeeded: boolean): void {
    this.contents += 1;
    if (isNeeded) this.needed.contents += 1;
  }
  argsCut(tool: string, isNeeded: boolean): void {
    this.args += 1;
    if (isNeeded) this.#argsOf.add(tool);
  }
  metadataCut(whose: string | null): void {
    this.metadata += 1;
    if (whose !== null) this.missing(`the metadata of ${whose}`);
  }
  secretsHidden(places: number, isNeeded: boolean): void {
    this.redacted += places;
    if (isNeeded) this.needed.secrets += places;
  }
  missing(what: string): void {
    this.#others.add(what);
  }

  /** Returns null if nothing was omitted. */
  toJSON(canContinue: boolean): SlimTruncated | null {
    const missing = canContinue ? this.#missing() : [];
    const { turns, messages, contents, args, metadata, steps, redacted, turnOverLimit } = this;
    const sum = turns + messages + contents + args + metadata + steps + redacted + turnOverLimit;
    if (sum + missing.length === 0) return null;
    return {
      turns,
      messages,
      contents,
      args,
      metadata,
      steps,
      redacted,
      turn_over_limit: turnOverLimit,
      missing,
    };
  }

  #missing(): readonly string[] {
    const { messages, contents, secrets, results } = this.needed;
    const missing: string[] = [];
    if (messages > 0) missing.push(`${counted(messages, 'message')} of this execution`);
    if (contents > 0) missing.push(`the rest of ${counted(contents, 'shortened text')}`);
    if (this.#argsOf.size > 0) missing.push(`the arguments of ${[...this.#argsOf].join(', ')}`);
    if (secrets > 0) missing.push(`${counted(secrets, 'value')} hidden as secret`);
    if (results > 0) missing.push(`the rest of ${counted(results, 'tool result')}`);
    return [...missing, ...this.#others];
  }
}

const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`;
