import type { Envelope, Refill } from 'onward/broadcasting';
import type { ModelRun } from './run-model.ts';

type Unfinished = Exclude<
  NonNullable<Refill['unfinished']>[number],
  Envelope & { type: 'agent.worker' }
>;

/**
 * Returns a refill after some envelopes were sent: the log so far and, if the server runs the session itself, the
 * unfinished texts.
 */
export function refillAt(
  run: ModelRun,
  sent: number,
  executionId: string | null,
  after: number,
  options: { readonly limit?: number; readonly isElsewhere?: boolean } = {},
): Refill {
  const wire = run.wire.slice(0, sent);
  const newest = wire.at(-1)?.execution_id ?? null;
  const id = executionId ?? newest;
  const { limit = 500, isElsewhere = false } = options;
  const ofRun = wire.filter(({ execution_id }) => execution_id === id);
  const all = ofRun.filter(({ seq }) => (seq ?? 0) > after);
  const envelopes = all.slice(0, limit);
  const more = envelopes.length < all.length;
  const last = run.seqs[wire.findLastIndex(({ execution_id }) => execution_id === id)] ?? 0;
  const unfinished = more || isElsewhere || id !== newest ? [] : unfinishedIn(ofRun);
  return {
    session_id: 's1',
    execution_id: id,
    envelopes,
    seq: more ? (envelopes.at(-1)?.seq ?? after) : last,
    more,
    ...(unfinished.length > 0 && { unfinished }),
  };
}

function unfinishedIn(wire: readonly Envelope[]): Unfinished[] {
  const agents = new Map<string, Map<string, Unfinished>>();
  for (const envelope of wire) {
    const { agent_id: id, type } = envelope;
    if (type === 'agent.status' && envelope.payload.status !== 'processing') agents.clear();
    else if (isUnfinished(envelope)) {
      const texts = agents.get(id) ?? new Map<string, Unfinished>();
      agents.set(id, texts);
      const name = envelope.type === 'agent.tool.delta' ? envelope.payload.tool_call_id : type;
      texts.set(name, joined(texts.get(name), envelope));
    } else if (type === 'agent.message') {
      agents.get(id)?.delete('agent.stream.chunk');
      agents.get(id)?.delete('agent.reasoning.chunk');
    } else if ('tool_call_id' in envelope.payload)
      agents.get(id)?.delete(envelope.payload.tool_call_id);
    else if (type !== 'agent.status') agents.delete(id);
  }
  return Array.from(agents.values()).flatMap((texts) => [...texts.values()]);
}

const isUnfinished = (envelope: Envelope): envelope is Unfinished => envelope.seq === null;

function joined(before: Unfinished | undefined, next: Unfinished): Unfinished {
  if (before === undefined || next.payload.offset === 0) return next;
  const more = (name: string): string =>
    String(Reflect.get(before.payload, name)) + String(Reflect.get(next.payload, name));
  const grown = next.type === 'agent.tool.delta' ? 'args_delta' : 'content';
  return { ...next, payload: { ...next.payload, [grown]: more(grown), offset: 0 } } as Unfinished;
}

/** Returns a refill for a client that knows everything up to `after`. */
export function refillOf(
  { logs }: ModelRun,
  executionId: string,
  after: number,
  limit: number = 500,
): Refill {
  const log = logs.get(executionId) ?? { envelopes: [], seq: 0 };
  const all = log.envelopes.filter(({ seq }) => (seq ?? 0) > after);
  const envelopes = all.slice(0, limit);
  const more = envelopes.length < all.length;
  return {
    session_id: 's1',
    execution_id: executionId,
    envelopes,
    seq: more ? (envelopes.at(-1)?.seq ?? after) : log.seq,
    more,
  };
}
