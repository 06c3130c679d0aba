import { modelCallFailed } from '../inference/inference-error.ts';
import type {
  InferenceChunk,
  InferenceDriver,
  InferenceRequest,
  InferenceResponse,
} from '../inference/inference-driver.ts';
import { decide, wantsBusy } from './model/decide.ts';
import { readTurns } from './model/conversation.ts';
import { inPieces, usageOf } from './model/speech.ts';
import type { Reply } from './model/reply.ts';
import { DEFAULT_CHUNK_DELAY_MS, rest, type Pace } from './pace.ts';

/** Name in the price table. */
export const DEMO_MODEL = 'onward-demo';

export interface DemoModelOptions {
  readonly pace: Pace;
}

/** Milliseconds before the first word. */
const THINKING_MS = 200;
const RETRY_AFTER_MS = 2000;
const MIN_RETRY_AFTER_MS = 20;
/** Maximum refusals to remember: enough for every open conversation. */
const MAX_REFUSED = 1000;

/**
 * Creates a scripted model: it reads the conversation and decides by rules. Its only state is which messages it has
 * refused once, because the user asked it to act busy.
 */
export function demoModel({ pace }: DemoModelOptions): InferenceDriver {
  const refused = new Set<string>();

  const answer = async (request: InferenceRequest, signal: AbortSignal): Promise<Reply> => {
    await rest(THINKING_MS * pace, signal);
    const { typed, messageId } = readTurns(request.messages).talk;
    if (wantsBusy(typed) && !refused.has(messageId)) {
      if (refused.size >= MAX_REFUSED) refused.clear();
      refused.add(messageId);
      throw busy(Math.max(MIN_RETRY_AFTER_MS, RETRY_AFTER_MS * pace));
    }
    return decide(request);
  };

  return {
    name: 'demo',
    model: DEMO_MODEL,
    async infer(request, { signal }): Promise<InferenceResponse> {
      const reply = await answer(request, signal);
      return responseOf(request, reply);
    },
    async *stream(request, { signal }): AsyncIterable<InferenceChunk> {
      const { text, calls } = await answer(request, signal);
      let said = '';
      for (const piece of inPieces(text)) {
        said += piece;
        yield { type: 'content', text: piece };
        yield { type: 'usage', usage: usageOf(request, said) };
        await rest(DEFAULT_CHUNK_DELAY_MS * pace, signal);
      }
      for (const [index, { name, args }] of calls.entries())
        for (const argsDelta of inPieces(JSON.stringify(args))) {
          yield { type: 'tool_call', index, name, argsDelta };
          await rest((DEFAULT_CHUNK_DELAY_MS / 2) * pace, signal);
        }
      yield { type: 'done', response: responseOf(request, { text, calls }) };
    },
  };
}

const responseOf = (request: InferenceRequest, { text, calls }: Reply): InferenceResponse => ({
  content: text,
  toolCalls: calls,
  finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
  usage: usageOf(request, text + calls.map(({ args }) => JSON.stringify(args)).join('')),
});

const busy = (retryAfterMs: number): Error =>
  modelCallFailed({
    type: 'rate_limit',
    code: 'rate_limit',
    status: 429,
    message: 'The demo model acts busy (429): try again in a moment.',
    retryable: true,
    retryAfterMs,
  });
