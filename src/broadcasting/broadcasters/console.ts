import { compactionText } from '../../events/compaction-text.ts';
import { hiddenText } from '../../events/hidden-args.ts';
import { logText } from '../../errors/log-text.ts';
import { progressText } from '../../tools/progress-text.ts';
import type { Broadcaster } from '../broadcaster.ts';
import type { TruncatedValue, Envelope } from '../envelope.ts';
import { clip } from '../wire-text.ts';

/** Maximum characters of a text in a line. */
const SHOWN = 80;

/** Writes one line for each envelope, to see in a terminal what a client would get. */
export function consoleBroadcaster({
  log = (line) => console.log(line),
}: { readonly log?: (line: string) => void } = {}): Broadcaster {
  const print = (channel: string, envelope: Envelope): void =>
    log(logText(`${channel} ${describeEnvelope(envelope)}`));
  return {
    name: 'console',
    broadcast(channel, envelope, signal) {
      signal?.throwIfAborted();
      print(channel, envelope);
    },
    broadcastBatch(broadcasts, signal) {
      signal?.throwIfAborted();
      for (const { channel, envelope } of broadcasts) print(channel, envelope);
    },
  };
}

/** Returns a line such as `#12 agent.step.completed: step 3, tool_calls, 200 tokens`. */
export function describeEnvelope(envelope: Envelope): string {
  const { seq, type, parent_agent_id: parent } = envelope;
  const place = seq === null ? '' : `#${seq} `;
  return `${place}${type}${parent === undefined ? '' : ' (nested)'}: ${what(envelope)}`;
}

function what({ type, payload: p }: Envelope): string {
  switch (type) {
    case 'agent.status':
      return `${p.previous_status} -> ${p.status}${p.stop_message === undefined ? '' : `. ${p.stop_message}`}`;
    case 'agent.message':
      return `${p.role} ${shown(p.content)}`;
    case 'agent.step.started':
      return `step ${p.step}`;
    case 'agent.step.completed':
      return `step ${p.step}, ${p.finish_reason ?? 'cut'}, ${p.usage.total} tokens`;
    case 'agent.model.fallback':
      return `step ${p.step}, ${clip(p.reason, SHOWN)}`;
    case 'agent.context.compacted':
      return `step ${p.step}, ${compactionText({ ...p, tokensBefore: p.tokens_before, tokensAfter: p.tokens_after })}`;
    case 'agent.tool.started':
      return `${p.tool} ${p.tool_call_id} ${clip(p.args_summary, SHOWN)}`;
    case 'agent.tool.progress':
      return `${p.tool} ${p.tool_call_id} ${clip(progressText(p), SHOWN)}`;
    case 'agent.tool.completed':
      return `${p.tool} ${p.tool_call_id} ${p.success ? 'ok' : 'failed'} ${shown(p.error ?? p.result_summary)}`;
    case 'agent.approval.requested': {
      const hiding = hiddenText(p.hidden);
      const call = `${p.tool} ${p.tool_call_id} ${clip(p.args_summary, SHOWN)}`;
      return hiding === null ? call : `${call} (${clip(hiding, SHOWN)})`;
    }
    case 'agent.input.requested':
      return `${p.tool} ${p.input_id} ${shown(p.message)}`;
    case 'agent.continuation':
      return `step ${p.step} ${p.should_continue ? 'continues' : `stops (${p.stop_reason})`}, says ${p.resolved_by}`;
    case 'agent.stream.chunk':
      return p.is_complete ? `step ${p.step} complete` : `step ${p.step} ${shown(p.content)}`;
    case 'agent.reasoning.chunk':
      return `step ${p.step} ${shown(p.content)}`;
    case 'agent.worker':
      return p.status;
    case 'agent.stream.discarded':
      return `step ${p.step}, attempt ${p.attempt}`;
    case 'agent.tool.delta':
      return `${p.tool_call_id} ${shown(p.args_delta)}`;
  }
}

const shown = (text: string | TruncatedValue): string =>
  JSON.stringify(clip(typeof text === 'string' ? text : text.summary, SHOWN));
