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
    // what has begun is streamed to its end, as text is
    if (this.#stream === null && !this.#run.events.wants('ReasoningDelta')) return;
    this.#emit((this.#stream ??= streamOf(this.#run.redactor)).push(text));
  }

  /** The answer is complete; `reasoning` is emitted as one piece if none of it was streamed. */
  end(reasoning: string | null): void {
    if (reasoning !== null && this.#pieces.length === 0) this.push(reasoning);
    if (this.#stream) this.#emit(this.#stream.end());
    this.#stream = null;
  }

  /** What has arrived so far; null if nothing has. */
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
