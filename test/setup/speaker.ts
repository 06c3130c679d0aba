import type { InferenceChunk, InferenceDriver } from 'onward/drivers';

/** A model that streams on demand. */
export class Speaker implements InferenceDriver {
  readonly name: string = 'speaker';
  readonly #said: InferenceChunk[] = [];
  #reasoning = '';
  #wake: () => void = () => {};

  say(...chunks: readonly (string | InferenceChunk)[]): void {
    for (const chunk of chunks)
      this.#said.push(typeof chunk === 'string' ? { type: 'content', text: chunk } : chunk);
    this.#wake();
  }
  thinks(...pieces: readonly string[]): void {
    this.#reasoning += pieces.join('');
    this.say(...pieces.map((text): InferenceChunk => ({ type: 'reasoning', text })));
  }
  ends(content: string): void {
    const reasoning = this.#reasoning;
    this.#reasoning = '';
    const response = { content, reasoning, toolCalls: [], finishReason: 'stop', usage: null };
    this.say({ type: 'done', response });
  }
  infer(): Promise<never> {
    throw new Error('It only streams.');
  }
  async *stream(): AsyncGenerator<InferenceChunk> {
    for (;;) {
      const next = this.#said.shift();
      if (next) yield next;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      if (next?.type === 'done') return;
    }
  }
}
