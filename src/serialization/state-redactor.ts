import type { AgentStepJSON } from '../agent/agent-state.ts';
import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import { redactedWithPaths } from '../errors/hidden-paths.ts';
import type { Redactor } from '../errors/redactor.ts';
import type { ContentPart, MessageContent } from '../messages/content-part.ts';
import type { MessageJSON } from '../messages/message.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import type { ToolResult } from '../tools/tool-result.ts';

/** A redacted part of a state, with the number of redacted places. */
export interface RedactedPart<T> {
  readonly value: T;
  readonly hidden: number;
}

/**
 * Redacts secrets before texts are truncated, because half a secret matches no pattern. Keeps ids, names and times,
 * which link the document. Redacts each part once, even if the document is written several times.
 */
export class StateRedactor {
  readonly #redactor: Redactor | null;
  readonly #seen = new Map<unknown, RedactedPart<unknown>>();
  #hidden = 0;

  constructor(redactor: Redactor | null) {
    this.#redactor = redactor;
  }

  free<T>(value: T): RedactedPart<T> {
    return this.#once(value, () => this.#value(value));
  }
  /** Returns JSON pointers to the redacted places of a value. */
  hiddenIn(value: unknown): readonly string[] {
    return this.#redactor === null ? [] : redactedWithPaths(this.#redactor, value).hidden;
  }
  message(message: MessageJSON): RedactedPart<MessageJSON> {
    return this.#once(message, () => ({
      ...message,
      content: this.#content(message.content),
      toolCalls: this.#calls(message.toolCalls),
      metadata: this.#value(message.metadata),
    }));
  }
  step(step: AgentStepJSON): RedactedPart<AgentStepJSON> {
    return this.#once(step, () => ({
      ...step,
      toolCalls: this.#calls(step.toolCalls),
      results: step.results.map((result) => this.#result(result)),
      errors: step.errors.map((error) => this.#error(error)),
      notes: this.#value(step.notes),
      ...('inputs' in step && { inputs: this.#value(step.inputs) }),
      ...(step.modelCall && { modelCall: this.#value(step.modelCall) }),
      ...(step.failedModels && { failedModels: this.#value(step.failedModels) }),
      outcome: step.outcome && {
        ...step.outcome,
        evaluations: step.outcome.evaluations.map((e) => this.#evaluation(e)),
      },
    }));
  }
  evaluation(evaluation: ContinuationEvaluation): RedactedPart<ContinuationEvaluation> {
    return this.#once(evaluation, () => this.#evaluation(evaluation));
  }

  #once<T>(key: T, look: () => T): RedactedPart<T> {
    if (this.#redactor === null) return { value: key, hidden: 0 };
    const known = this.#seen.get(key) as RedactedPart<T> | undefined; // keyed by the original part
    if (known) return known;
    const before = this.#hidden;
    const value = look();
    const redacted = { value, hidden: this.#hidden - before };
    if (typeof key === 'object') this.#seen.set(key, redacted);
    return redacted;
  }

  #value<T>(value: T): T {
    const shown = this.#redactor?.value(value) ?? value;
    if (shown === value || JSON.stringify(shown) === JSON.stringify(value)) return value;
    this.#hidden += 1;
    return shown;
  }

  /** Redacts content except inline data, which a match would corrupt. */
  #content(content: MessageContent): MessageContent {
    return typeof content === 'string' ? this.#value(content) : this.#parts(content);
  }

  #parts(parts: readonly ContentPart[]): readonly ContentPart[] {
    return parts.map((part) => {
      if (part.type === 'text' || part.data === undefined) return this.#value(part);
      const { data, ...rest } = part;
      return { ...this.#value(rest), data };
    });
  }

  #calls(calls: readonly ToolCall[]): readonly ToolCall[] {
    return calls.map((call) => ({
      ...call,
      args: this.#value(call.args),
      ...(call.argsRaw === undefined ? null : { argsRaw: this.#value(call.argsRaw) }),
    }));
  }

  #result(result: ToolResult): ToolResult {
    const { value, error, files, content } = result;
    return {
      ...result,
      value: this.#value(value),
      ...(files ? { files: this.#value(files) } : null),
      ...(content ? { content: this.#parts(content) } : null),
      ...(error ? { error: this.#error(error) } : null),
    };
  }

  #error(error: ErrorRecord): ErrorRecord {
    return { ...error, message: this.#value(error.message) };
  }

  #evaluation(e: ContinuationEvaluation): ContinuationEvaluation {
    const { reason, context, remedy } = e;
    // derived facts are not stored
    const facts = Object.hasOwn(e, 'facts') ? e.facts : undefined;
    return {
      ...e,
      reason: this.#value(reason),
      context: this.#value(context),
      ...(remedy ? { remedy: { ...remedy, text: this.#value(remedy.text) } } : null),
      ...(facts ? { facts: this.#value(facts) } : null),
    };
  }
}
