import type { ModelCallDocument, PayloadRange, ToolCallsDocument } from '../../trace/index.ts';
import type { Api } from '../api-client.ts';

/** A step of a trace. */
export interface PayloadPlace {
  readonly step: number;
  /** Null for the newest run. */
  readonly execution: string | null;
  /** Id of a nested agent; null for the session's own. */
  readonly agent: string | null;
}

/** Reads the payloads of one session, each when it is opened. */
export interface PayloadSource {
  modelCall(
    place: PayloadPlace,
    shown: { readonly messages: 'new' | 'all'; readonly from?: number },
    signal: AbortSignal,
  ): Promise<ModelCallDocument>;
  toolCalls(place: PayloadPlace, signal: AbortSignal): Promise<ToolCallsDocument>;
  text(place: PayloadPlace, part: string, from: number): Promise<PayloadRange>;
}

export function payloadSource(api: Pick<Api, 'read'>, sessionId: string): PayloadSource {
  const at = (name: string): string => `/sessions/${encodeURIComponent(sessionId)}/${name}`;
  return {
    modelCall: (place, shown, signal) => api.read(at('model-call'), { ...place, ...shown }, signal),
    toolCalls: (place, signal) => api.read(at('tool-calls'), { ...place }, signal),
    text: (place, part, from) => api.read(at('payload'), { ...place, part, from }),
  };
}

/** Most ranges of one text that are read; more than any text of a session has. */
const MOST_RANGES = 1_000;

/** Reads a whole text, range by range. */
export async function wholeText(
  source: PayloadSource,
  place: PayloadPlace,
  part: string,
): Promise<string> {
  let text = '';
  for (let from = 0, count = 0; count < MOST_RANGES; count++) {
    const range = await source.text(place, part, from);
    text += range.text;
    if (range.next === null) break;
    from = range.next;
  }
  return text;
}
