import type { Envelope, EnvelopePayloads, EnvelopeType } from 'onward/broadcasting';

type Payload<T extends EnvelopeType> = EnvelopePayloads[T];

/** Creates the envelopes of one execution with consecutive numbers and times. */
export class Wire {
  readonly executionId: string;
  readonly all: Envelope[] = [];
  seq = 0;
  time: number;
  #chunks = new Map<string, number>();

  constructor(executionId: string = 'x1', time: number = Date.UTC(2026, 0, 16, 12)) {
    this.executionId = executionId;
    this.time = time;
  }

  send<T extends EnvelopeType>(
    type: T,
    payload: Payload<T>,
    more: Partial<Envelope> = {},
  ): Envelope {
    const isNumbered = !/chunk$|delta$|worker$/.test(type);
    if (isNumbered) this.seq++;
    const envelope = {
      type,
      session_id: 's1',
      execution_id: this.executionId,
      agent_id: 'root',
      seq: isNumbered ? this.seq : null,
      prev: isNumbered ? this.seq - 1 : null,
      timestamp: new Date(this.time++).toISOString(),
      payload,
      ...more,
    } as Envelope;
    this.all.push(envelope);
    return envelope;
  }

  status(
    status: Payload<'agent.status'>['status'],
    stop: Partial<Payload<'agent.status'>> = {},
  ): Envelope {
    return this.send('agent.status', { status, previous_status: 'idle', step_count: 0, ...stop });
  }
  message(
    id: string,
    role: 'user' | 'assistant',
    content: Payload<'agent.message'>['content'],
    step = 0,
  ): Envelope {
    return this.send('agent.message', { message_id: id, role, content, step });
  }
  /** Starts a run with a user message. */
  begin(text = 'Lamps?'): this {
    this.status('processing');
    this.message(`${this.executionId}-user`, 'user', text);
    return this;
  }
  step(step: number, more: Partial<Envelope> = {}): Envelope {
    return this.send('agent.step.started', { step, message_count: 1, available_tools: [] }, more);
  }
  stepDone(step: number, total = 15, more: Partial<Envelope> = {}): Envelope {
    return this.send(
      'agent.step.completed',
      {
        step,
        has_tool_calls: false,
        errors: 0,
        finish_reason: 'stop',
        usage: { input: total - 5, output: 5, total },
        duration_ms: 1,
      },
      more,
    );
  }
  chunk(
    message_id: string,
    content: string,
    step = 1,
    attempt = 1,
    more: Partial<Envelope> = {},
  ): Envelope {
    const key = `${step}:${attempt}`;
    const chunk_index = this.#chunks.get(key) ?? 0;
    this.#chunks.set(key, chunk_index + 1);
    return this.send(
      'agent.stream.chunk',
      { message_id, step, attempt, chunk_index, content, is_complete: content === '' },
      more,
    );
  }
  reasoning(
    message_id: string,
    content: string,
    offset: number,
    more: { readonly step?: number; readonly attempt?: number; readonly restart?: number } = {},
  ): Envelope {
    const payload = { message_id, step: 1, attempt: 1, content, offset, ...more };
    return this.send('agent.reasoning.chunk', payload);
  }
  discarded(step: number, attempt = 1): Envelope {
    return this.send('agent.stream.discarded', { step, attempt });
  }
  delta(tool_call_id: string, args_delta: string): Envelope {
    return this.send('agent.tool.delta', { tool_call_id, args_delta });
  }
  toolStarted(
    id: string,
    tool = 'stock',
    args_summary = '{"article":"lamp"}',
    more: Partial<Envelope> = {},
  ): Envelope {
    return this.send('agent.tool.started', { tool, tool_call_id: id, args_summary }, more);
  }
  toolDone(
    id: string,
    result_summary: Payload<'agent.tool.completed'>['result_summary'] = '{"pieces":7}',
    error: string | null = null,
    more: Partial<Envelope> = {},
  ): Envelope {
    return this.send(
      'agent.tool.completed',
      {
        tool: 'stock',
        tool_call_id: id,
        success: error === null,
        error,
        duration_ms: 12,
        result_summary,
      },
      more,
    );
  }
  approval(id: string, more: Partial<Envelope> = {}): Envelope {
    return this.send(
      'agent.approval.requested',
      { tool: 'pay', tool_call_id: id, args: { sum: 5 }, args_summary: '{"sum":5}' },
      more,
    );
  }
}
