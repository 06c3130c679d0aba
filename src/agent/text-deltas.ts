import { streamOf, type TextStream } from '../errors/redactor.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';

/** Emits the text of one model call as `StreamChunk` events, without the secrets in it. */
export class TextDeltas {
  readonly #run: Run;
  readonly #draft: StepDraft;
  #stream: TextStream | null = null;

  constructor(run: Run, draft: StepDraft) {
    this.#run = run;
    this.#draft = draft;
  }

  push(text: string): void {
    if (text === '') return;
    const { events, redactor } = this.#run;
    const draft = this.#draft;
    draft.shown += text;
    // once started, a text is streamed to its end, so that a reconnecting client misses no part
    if (this.#stream !== null) return this.#emit(this.#stream.push(text));
    if (!events.wants('StreamChunk')) return;
    // the first listener may join late
    this.#stream = streamOf(redactor);
    this.#emit(this.#stream.push(draft.shown));
  }

  /** Emits the text that was held back as a possible secret. */
  end(): void {
    if (this.#stream) this.#emit(this.#stream.end());
  }

  #emit(content: string): void {
    if (content === '') return;
    const draft = this.#draft;
    const {
      messageId,
      number: stepNumber,
      attempt,
      chunks: index,
      emitted: offset,
      restart,
    } = draft;
    draft.chunks = index + 1;
    draft.emitted = offset + content.length;
    const chunk = { messageId, stepNumber, attempt, content, offset };
    this.#run.events.emit('StreamChunk', restart === 0 ? chunk : { ...chunk, restart }, index);
  }
}
