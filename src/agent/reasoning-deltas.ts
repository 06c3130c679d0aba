import { streamOf, type TextStream } from '../errors/redactor.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';

/** Emits the reasoning of one model call as `ReasoningDelta` events, without the secrets in it. */
export class ReasoningDeltas {
  readonly #run: Run;
  readonly #draft: StepDraft;
  readonly #pieces: string[] = [];
  #stream: TextStream | null = null;
  #offset = 0;

  constructor(run: Run, draft: StepDraft) {
    this.#run = run;
    this.#draft = draft;
  }

  push(text: string): void {
    if (text === '') return;
    this.#pieces.push(text);
    // like text: once started, it is streamed to its end, and the first listener gets everything so far
    if (this.#stream !== null) return this.#emit(this.#stream.push(text));
    if (!this.#run.events.wants('ReasoningDelta')) return;
    this.#stream = streamOf(this.#run.redactor);
    this.#emit(this.#stream.push(this.#pieces.join('')));
  }

  /** Ends the reasoning. Emits `reasoning` as one piece if none of it was streamed. */
  end(reasoning: string | null): void {
    if (reasoning !== null && this.#pieces.length === 0) this.push(reasoning);
    if (this.#stream) this.#emit(this.#stream.end());
    this.#stream = null;
  }

  /** Reasoning received so far; null if none. */
  get received(): string | null {
    return this.#pieces.length === 0 ? null : this.#pieces.join('');
  }

  #emit(content: string): void {
    if (content === '') return;
    const draft = this.#draft;
    const { messageId, number: stepNumber, attempt, restart, reasoningPieces: index } = draft;
    const delta = { messageId, stepNumber, attempt, content, offset: this.#offset };
    this.#offset += content.length;
    draft.reasoningPieces = index + 1;
    draft.hasShownReasoning = true;
    this.#run.events.emit('ReasoningDelta', restart === 0 ? delta : { ...delta, restart }, index);
  }
}
