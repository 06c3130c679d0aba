import type { Envelope, EnvelopePayloads } from 'onward/broadcasting';
import type { CallSpec, ExecutionSpec, Preset, StepSpec } from './run-specs.ts';
import { ModelWire } from './run-wire.ts';

export interface ModelRun {
  /** All envelopes in order. */
  readonly wire: readonly Envelope[];
  /** Last number of the log when each envelope was sent. */
  readonly seqs: readonly number[];
  /** Numbered envelopes by execution, and the last number of each log. */
  readonly logs: ReadonlyMap<
    string,
    { readonly envelopes: readonly Envelope[]; readonly seq: number }
  >;
  /** All complete texts of the root agent. */
  readonly texts: readonly string[];
  /** Final rows of the standard preset: role and content. */
  readonly expected: readonly string[];
  readonly usage: number;
}

/** Creates the envelopes of the executions. */
export function play(executions: readonly ExecutionSpec[], preset: Preset): ModelRun {
  return new Player(preset).play(executions);
}

class Player {
  readonly #wire: ModelWire;
  readonly #showsReasoning: boolean;
  readonly #texts: string[] = [];
  readonly #expected: string[] = [];
  #messages = 0;
  #steps = 0;
  #attempt = 1;
  #calls = 0;
  #usage = 0;
  /** The last stop of the execution: its step, and the place of its row. */
  #stop: { readonly step: number; readonly place: number } | null = null;

  constructor(preset: Preset) {
    this.#wire = new ModelWire(preset);
    this.#showsReasoning = preset === 'debug';
  }

  play(executions: readonly ExecutionSpec[]): ModelRun {
    for (const [i, spec] of executions.entries()) this.#execution(`x${i + 1}`, spec);
    return {
      wire: this.#wire.all,
      seqs: this.#wire.seqs,
      logs: this.#wire.logs,
      texts: this.#texts,
      expected: this.#expected,
      usage: this.#usage,
    };
  }

  #execution(id: string, { inputs, runs }: ExecutionSpec): void {
    this.#wire.open(id);
    this.#steps = this.#calls = this.#usage = 0;
    this.#stop = null;
    for (const [i, { steps, end }] of runs.entries()) {
      this.#status('processing', i === 0 ? 'idle' : 'stopped');
      if (i === 0)
        for (const content of inputs) {
          this.#messages++;
          this.#wire.send('agent.message', {
            message_id: `m${this.#messages}`,
            role: 'user',
            content,
            step: 0,
          });
          this.#expected.push(`user ${content}`);
        }
      this.#attempt = 1;
      for (const step of steps) this.#step(step);
      this.#wire.silent();
      this.#end(end);
    }
  }

  #status(
    status: EnvelopePayloads['agent.status']['status'],
    previous: EnvelopePayloads['agent.status']['status'],
    stop: string | null = null,
  ): void {
    this.#wire.send('agent.status', {
      status,
      previous_status: previous,
      step_count: this.#steps,
      ...(stop !== null && {
        stop_reason: status === 'completed' ? 'completed' : null,
        stop_message: stop,
        resolved_by: 'Model',
        remedy: status === 'stopped' ? { text: 'raise it.', option: 'withMaxSteps(...)' } : null,
        error_message: null,
        last_response: null,
      }),
    });
  }

  /** A stop stays when the run continues; one at the same step takes its place. */
  #end(end: 'completed' | 'stopped' | 'failed' | 'cancelled'): void {
    this.#status(end, 'processing', `It is ${end}.`);
    if (this.#stop?.step === this.#steps) this.#expected.splice(this.#stop.place, 1);
    this.#stop = null;
    if (end === 'completed') return;
    this.#stop = { step: this.#steps, place: this.#expected.length };
    this.#expected.push('status');
  }

  #step({ kind, thoughts, chunks, calls }: StepSpec): void {
    this.#steps++;
    const step = this.#steps;
    const attempt = this.#attempt;
    this.#wire.send('agent.step.started', { step, message_count: 1, available_tools: [] });
    const message_id = `m${++this.#messages}`;
    let index = 0;
    let offset = 0;
    const again = kind === 'again' ? { restart: 1 } : {};
    const stream = (parts: readonly string[], restart: { readonly restart?: number }): void => {
      this.#texts.push(parts.join(''));
      offset = 0;
      for (const content of parts) {
        this.#wire.send('agent.stream.chunk', {
          message_id,
          step,
          attempt,
          chunk_index: index++,
          content,
          offset,
          ...restart,
          is_complete: false,
        });
        offset += content.length;
      }
    };
    const think = (parts: readonly string[], restart: { readonly restart?: number }): void => {
      this.#texts.push(parts.join(''));
      let at = 0;
      for (const content of parts) {
        const payload = { message_id, step, attempt, content, offset: at, ...restart };
        this.#wire.send('agent.reasoning.chunk', payload);
        at += content.length;
      }
    };
    if (kind === 'again') {
      think(['Void ', 'thoughts'], {});
      stream(['Void ', 'words'], {});
      this.#wire.send('agent.stream.discarded', { step, attempt });
      this.#wire.time++;
    }
    think(thoughts, again);
    stream(chunks, again);
    if (kind === 'fail') {
      this.#delta(`dead${step}`);
      this.#wire.silent();
      if (chunks.length + thoughts.length > 0)
        this.#wire.send('agent.stream.discarded', { step, attempt });
      this.#attempt++;
      return;
    }
    this.#attempt = 1;
    const content = chunks.join('');
    const ids = kind === 'tools' ? calls.map(() => `call_${++this.#calls}`) : [];
    for (const id of ids) this.#delta(id);
    if (chunks.length > 0)
      this.#wire.send('agent.stream.chunk', {
        message_id,
        step,
        attempt,
        chunk_index: index,
        content: '',
        offset,
        ...again,
        is_complete: true,
      });
    const reasoning = this.#showsReasoning ? thoughts.join('') : '';
    if (content.trim() !== '' || reasoning !== '')
      this.#wire.send('agent.message', {
        message_id,
        role: 'assistant',
        content,
        step,
        ...(reasoning !== '' && { reasoning }),
      });
    else if (thoughts.length > 0) this.#wire.silent();
    const shown = content.trim() === '' ? '' : content;
    if (shown !== '' && kind !== 'tools') this.#expected.push(`assistant ${shown}[]`);
    if (kind === 'tools') this.#tools(calls, ids, shown);
    const usage = { input: 10, output: 5, total: 15 };
    this.#usage += 15;
    this.#wire.silent();
    this.#wire.send('agent.step.completed', {
      step,
      has_tool_calls: ids.length > 0,
      errors: 0,
      finish_reason: 'stop',
      usage,
      duration_ms: 3,
    });
    this.#wire.send('agent.continuation', {
      step,
      should_continue: true,
      stop_reason: null,
      resolved_by: 'Model',
      evaluations: [],
    });
  }

  #delta(tool_call_id: string): void {
    let offset = 0;
    for (const args_delta of ['{"n":', `"${tool_call_id}"`, '}']) {
      this.#wire.send('agent.tool.delta', { tool_call_id, args_delta, offset });
      offset += args_delta.length;
    }
  }

  /** Runs calls without approval concurrently, then pauses for the others. */
  #tools(calls: readonly CallSpec[], ids: readonly string[], text: string): void {
    const all = calls.map((call, i) => ({ ...call, id: ids[i] ?? '' }));
    const free = all.filter(({ asks, end }) => !asks && end !== 'denied');
    const asked = all.filter((call) => !free.includes(call));
    this.#runCalls(free);
    if (asked.length > 0) {
      for (const { id } of asked)
        this.#wire.send('agent.approval.requested', {
          tool: 'stock',
          tool_call_id: id,
          args: { n: id },
          args_summary: `{"n":"${id}"}`,
        });
      this.#pause();
      this.#runCalls(asked);
    }
    // in the order of their first envelope
    const begun = (end: CallSpec['end']): boolean => end !== 'refused';
    const received = [
      ...free.filter(({ end }) => begun(end)),
      ...free.filter(({ end }) => !begun(end)).toReversed(),
      ...asked,
    ];
    this.#expected.push(`assistant ${text}[${received.map(({ id }) => id).join(' ')}]`);
    for (const { id, end } of received)
      this.#expected.push(`tool ${id} ${end === 'ok' ? 'ok' : 'error'}`);
  }

  #pause(): void {
    this.#status('paused', 'processing', 'Waiting for a person.');
    this.#status('processing', 'paused');
  }

  #runCalls(calls: readonly (CallSpec & { readonly id: string })[]): void {
    const started = calls.filter(({ end }) => end !== 'refused' && end !== 'denied');
    for (const { id } of started)
      this.#wire.send('agent.tool.started', {
        tool: 'stock',
        tool_call_id: id,
        args_summary: `{"n":"${id}"}`,
      });
    for (const { nested } of started) if (nested) this.#nested(nested);
    // the last call to start is the first to end
    for (const { id, end } of calls.toReversed())
      this.#wire.send('agent.tool.completed', {
        tool: 'stock',
        tool_call_id: id,
        success: end === 'ok',
        error: end === 'ok' ? null : end,
        duration_ms: 2,
        result_summary: `{"found":"${id}"}`,
      });
  }

  #nested(moves: readonly ('text' | 'tool' | 'approval' | 'fail')[]): void {
    for (const [i, move] of moves.entries()) {
      const step = i + 1;
      const message_id = `m${++this.#messages}`;
      this.#wire.send(
        'agent.step.started',
        { step, message_count: 1, available_tools: [] },
        'child',
      );
      for (const [chunk_index, content] of ['nested ', 'words'].entries()) {
        const offset = chunk_index * 'nested '.length;
        this.#wire.send(
          'agent.stream.chunk',
          { message_id, step, attempt: 1, chunk_index, content, offset, is_complete: false },
          'child',
        );
      }
      if (move === 'fail') {
        this.#wire.send('agent.stream.discarded', { step, attempt: 1 }, 'child');
        continue;
      }
      this.#wire.send(
        'agent.message',
        { message_id, role: 'assistant', content: 'nested words', step },
        'child',
      );
      if (move !== 'text') this.#nestedCall(move === 'approval');
      this.#wire.send(
        'agent.step.completed',
        {
          step,
          has_tool_calls: move !== 'text',
          errors: 0,
          finish_reason: 'stop',
          usage: { input: 1, output: 1, total: 2 },
          duration_ms: 1,
        },
        'child',
      );
    }
  }

  #nestedCall(asks: boolean): void {
    const call = { tool: 'inner', tool_call_id: `cal_${++this.#calls}n`, args_summary: '{}' };
    if (asks) {
      this.#wire.send('agent.approval.requested', { ...call, args: {} }, 'child');
      this.#pause();
    }
    this.#wire.send('agent.tool.started', call, 'child');
    this.#wire.send(
      'agent.tool.completed',
      {
        tool: call.tool,
        tool_call_id: call.tool_call_id,
        success: true,
        error: null,
        duration_ms: 1,
        result_summary: 'inner',
      },
      'child',
    );
  }
}
