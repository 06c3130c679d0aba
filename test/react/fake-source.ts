import type { Grants } from '../../src/continuation/grants.ts';
import type {
  Envelope,
  EnvelopeOf,
  EnvelopePayloads,
  EnvelopeType,
} from '../../src/broadcasting/envelope.ts';
import type { EnvelopeSink, EnvelopeSource } from '../../src/ui/sources/envelope-source.ts';
import type { LogPlace } from '../../src/ui/ui-state.ts';

/** Creates the envelopes of one execution, numbered as by a server. */
export class Wire {
  seq: number = 0;
  clock: number = Date.parse('2026-01-16T12:00:00.000Z');
  readonly executionId: string;
  readonly sessionId: string;

  constructor(executionId: string = 'exe_1', sessionId: string = 'ses_1') {
    this.executionId = executionId;
    this.sessionId = sessionId;
  }

  make<T extends EnvelopeType>(type: T, payload: EnvelopePayloads[T]): EnvelopeOf<T> {
    const isNumbered = type !== 'agent.stream.chunk' && type !== 'agent.tool.delta';
    const prev = this.seq === 0 ? null : this.seq;
    this.clock += 10;
    return {
      type,
      session_id: this.sessionId,
      execution_id: this.executionId,
      agent_id: 'agt_1',
      seq: isNumbered ? ++this.seq : null,
      prev: isNumbered ? prev : null,
      timestamp: new Date(this.clock).toISOString(),
      payload,
    };
  }

  started(): EnvelopeOf<'agent.status'> {
    return this.make('agent.status', {
      status: 'processing',
      previous_status: 'idle',
      step_count: 0,
    });
  }
  /** Continues after a limit. */
  granted(amounts: Grants): EnvelopeOf<'agent.status'> {
    const grant = {
      amounts,
      by: 'ann',
      authority: 'owner',
      at: '2026-01-16T14:11:00.000Z',
    } as const;
    return this.make('agent.status', {
      status: 'processing',
      previous_status: 'stopped',
      step_count: 5,
      grant,
    });
  }
  user(content: string, message_id: string = 'msg_user'): EnvelopeOf<'agent.message'> {
    return this.make('agent.message', { message_id, role: 'user', content, step: 0 });
  }
  says(
    content: string,
    message_id: string = 'msg_answer',
    step: number = 1,
  ): EnvelopeOf<'agent.message'> {
    return this.make('agent.message', { message_id, role: 'assistant', content, step });
  }
  step(step: number): EnvelopeOf<'agent.step.started'> {
    return this.make('agent.step.started', { step, message_count: 1, available_tools: [] });
  }
  stepDone(step: number, has_tool_calls: boolean = false): EnvelopeOf<'agent.step.completed'> {
    return this.make('agent.step.completed', {
      step,
      has_tool_calls,
      errors: 0,
      finish_reason: has_tool_calls ? 'tool_calls' : 'stop',
      usage: { input: 1_000, output: 234, total: 1_234 },
      duration_ms: 900,
    });
  }
  chunk(
    content: string,
    chunk_index: number,
    step: number = 1,
    message_id: string = 'msg_answer',
  ): EnvelopeOf<'agent.stream.chunk'> {
    return this.make('agent.stream.chunk', {
      message_id,
      step,
      attempt: 1,
      chunk_index,
      content,
      is_complete: false,
    });
  }
  tool(
    tool: string,
    tool_call_id: string,
    args: EnvelopePayloads['agent.tool.started']['args'] = {},
  ): EnvelopeOf<'agent.tool.started'> {
    return this.make('agent.tool.started', {
      tool,
      tool_call_id,
      args,
      args_summary: JSON.stringify(args).slice(0, 80),
    });
  }
  toolDone(
    tool: string,
    tool_call_id: string,
    result_summary: EnvelopePayloads['agent.tool.completed']['result_summary'],
    error: string | null = null,
    error_code: string | null = null,
  ): EnvelopeOf<'agent.tool.completed'> {
    return this.make('agent.tool.completed', {
      tool,
      tool_call_id,
      success: error === null,
      error,
      ...(error_code !== null && { error_code }),
      duration_ms: 312,
      result_summary,
    });
  }
  asks(
    tool: string,
    tool_call_id: string,
    args: EnvelopePayloads['agent.approval.requested']['args'],
  ): EnvelopeOf<'agent.approval.requested'> {
    return this.make('agent.approval.requested', {
      tool,
      tool_call_id,
      args,
      args_summary: JSON.stringify(args).slice(0, 80),
    });
  }
  question(asked: EnvelopePayloads['agent.input.requested']): EnvelopeOf<'agent.input.requested'> {
    return this.make('agent.input.requested', asked);
  }
  ends(
    status: EnvelopePayloads['agent.status']['status'],
    more: Partial<EnvelopePayloads['agent.status']> = {},
  ): EnvelopeOf<'agent.status'> {
    return this.make('agent.status', {
      status,
      previous_status: 'processing',
      step_count: 1,
      stop_reason: status === 'completed' ? 'completed' : null,
      stop_message: status === 'completed' ? 'Done: the answer asks for no tools.' : 'Stopped.',
      resolved_by: 'ToolCallPresenceCheck',
      remedy: null,
      error_message: null,
      last_response: null,
      ...more,
    });
  }
  /** Returns a run of one step: the answer to `hi` is `hello`. */
  answered(): readonly Envelope[] {
    return [
      this.started(),
      this.user('hi'),
      this.step(1),
      this.says('hello'),
      this.stepDone(1),
      this.ends('completed'),
    ];
  }
  limit(): EnvelopeOf<'agent.status'> {
    return this.ends('stopped', {
      step_count: 5,
      stop_reason: 'steps_limit',
      stop_message: 'The limit of steps was reached: 5 of 5 steps, and a tool result is unread.',
      resolved_by: 'StepsLimit',
      remedy: {
        text: 'call resume(state, { grant: { steps: 5 } }), or raise the limit with withMaxSteps(...).',
        option: 'withMaxSteps(...)',
        grant: { steps: 5 },
      },
    });
  }
  waits(tool: string): EnvelopeOf<'agent.status'> {
    return this.ends('paused', {
      stop_reason: null,
      stop_message: `Waiting for a person to approve or deny ${tool}.`,
      resolved_by: null,
      remedy: { text: 'approve or deny the call.' },
    });
  }
}

export interface FakeSource {
  readonly source: EnvelopeSource;
  /** How often it was opened and closed. */
  readonly opened: () => number;
  readonly closed: () => number;
  readonly sink: () => EnvelopeSink;
  readonly place: () => LogPlace | null;
}

/** Creates a source that the test controls. */
export function fakeSource(more: Partial<EnvelopeSource> = {}): FakeSource {
  let opened = 0;
  let closed = 0;
  let current: EnvelopeSink | null = null;
  let where: () => LogPlace | null = () => null;
  return {
    source: {
      ...more,
      open(sink, place) {
        opened++;
        current = sink;
        where = place;
        sink.connection('live');
        return () => {
          closed++;
        };
      },
    },
    opened: () => opened,
    closed: () => closed,
    sink: () => {
      if (!current) throw new Error('The source was not opened.');
      return current;
    },
    place: () => where(),
  };
}
