import type { InferenceChunk, InferenceResponse } from '../inference-driver.ts';
import type { PartialAnswer } from '../inference-error.ts';
import type { ProviderReport } from '../model-call-info.ts';

/** Assembles a streamed answer of one API. */
export interface AnswerStream {
  /** Reads a JSON event and returns what is new in it. */
  read(event: Record<string, unknown>): InferenceChunk[];
  /** Emits text that was held back. */
  end(): InferenceChunk[];
  /** Whether there was an answer at all. */
  readonly hasChoice: boolean;
  /** Whether a stream that ends here is complete. */
  readonly isFinished: boolean;
  /** Whether nothing can follow, so that the connection may be closed. */
  readonly isOver: boolean;
  readonly partial: PartialAnswer;
  /** Model and id of the answer, once they are known. */
  readonly report: ProviderReport;
  /** Returns the whole answer; throws if its status says that there is none. */
  response(): InferenceResponse;
}

/** How one API formats its answers. `server` is the URL for state that must go back to it. */
export interface AnswerFormat {
  stream(server: string): AnswerStream;
  /** Reads a whole body; null if it is not an answer. */
  whole(body: unknown, server: string): InferenceResponse | null;
  /** Returns the body of an error that an event reports; null if it reports none. */
  errorIn(event: unknown): unknown;
  /** Names what a body without an answer lacks. */
  readonly missing: string;
}
