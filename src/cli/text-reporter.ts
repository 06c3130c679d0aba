import { compactionText } from '../events/compaction-text.ts';
import type { AgentEvent, EventOf } from '../events/agent-event.ts';
import { filesText } from '../file-facts.ts';
import { progressText } from '../tools/progress-text.ts';
import { resultText } from '../tools/tool-result.ts';
import { durationText } from '../number-text.ts';
import type { CliContext } from './cli-context.ts';
import { argsSummary, oneLine } from './format.ts';
import type { RunReporter } from './run-reporter.ts';
import { TerminalOutput } from './terminal-output.ts';

/** Kinds that are not errors of the tool: it did not run, or not to its end. */
const kinds: ReadonlySet<string | null> = new Set(['denied', 'blocked', 'aborted']);

/** Returns the failure: the kind says what happened, the model's text says why. */
function failureText({ error, result }: EventOf<'ToolCallCompleted'>): string {
  if (!kinds.has(error)) return `failed: ${oneLine(error ?? 'no reason given', 160)}`;
  return `${error}: ${oneLine(resultText(result), 160)}`;
}

/**
 * Prints the answer on stdout and everything else on stderr. With streaming, every text appears as it arrives;
 * otherwise only whole answers, so that a pipe never gets discarded text or text next to a tool call.
 */
export class TextReporter implements RunReporter {
  readonly #context: CliContext;
  readonly #output: TerminalOutput;
  readonly #isStreamed: boolean;
  /** Messages with visible text. */
  readonly #shown: Set<string> = new Set();
  readonly #running: Map<string, { readonly tool: string; readonly args: string }> = new Map();
  /** Whole texts by step that may yet turn out to accompany calls. */
  readonly #held: Map<number, string> = new Map();
  #hasText = false;

  constructor(context: CliContext, { isStreamed }: { readonly isStreamed: boolean }) {
    this.#context = context;
    this.#output = new TerminalOutput(context);
    this.#isStreamed = isStreamed;
  }

  note(line?: string): void {
    this.#output.note(line);
  }

  rest(): void {
    this.#output.status('');
    for (const text of this.#held.values()) this.#whole(text);
    this.#held.clear();
    this.#output.endLine();
  }

  event(event: AgentEvent): void {
    // the text of a nested agent is for the agent that called it
    const isRoot = event.parentAgentId === null;
    switch (event.type) {
      case 'AgentStepStarted':
        return this.#output.status(`step ${event.stepNumber}`);
      case 'StreamChunk':
        return isRoot ? this.#chunk(event) : undefined;
      case 'StreamDiscarded':
        return isRoot ? this.#discarded() : undefined;
      case 'MessageAdded':
        return isRoot && event.role === 'assistant' ? this.#message(event) : undefined;
      case 'AgentStepCompleted':
        return isRoot ? this.#stepCompleted(event) : undefined;
      case 'StepFailed':
        return this.#stepFailed(event);
      case 'ModelFallback':
        return this.#output.note(
          `  ${this.#context.paintNote('yellow', '!')} ${oneLine(event.reason, 160)}`,
        );
      case 'ContextCompacted':
        return this.#output.note(`  ${compactionText(event)}`);
      case 'ToolCallStarted':
        if (isRoot) this.#aside();
        return this.#toolStarted(event);
      case 'ToolProgress':
        return this.#output.status(oneLine(`${event.tool} ${progressText(event)}`, 100));
      case 'ToolsChanged':
        return this.#toolsChanged(event);
      case 'ToolApprovalRequested':
        return isRoot ? this.#aside() : undefined;
      case 'ToolCallCompleted':
        return this.#toolCompleted(event, isRoot);
      default:
        return undefined;
    }
  }

  #chunk({ messageId, content }: EventOf<'StreamChunk'>): void {
    if (!this.#isStreamed) return;
    if (!this.#shown.has(messageId)) this.#gap();
    this.#shown.add(messageId);
    this.#output.text(content);
  }

  #discarded(): void {
    if (!this.#isStreamed) return;
    const { paintNote } = this.#context;
    this.#output.note(paintNote('dim', '  (the text above was interrupted and is discarded)'));
  }

  #message({ messageId, content, stepNumber }: EventOf<'MessageAdded'>): void {
    if (content.trim() === '') return;
    if (!this.#isStreamed) this.#held.set(stepNumber, content);
    else if (!this.#shown.has(messageId)) this.#whole(content);
    else this.#output.endLine();
    this.#shown.add(messageId);
  }

  #stepCompleted({ stepNumber, hasToolCalls }: EventOf<'AgentStepCompleted'>): void {
    const text = this.#held.get(stepNumber);
    if (hasToolCalls) this.#aside();
    this.#held.delete(stepNumber);
    if (text !== undefined && !hasToolCalls) this.#whole(text);
  }

  /** Prints text that accompanies calls as a note: it is not an answer. */
  #aside(): void {
    for (const text of this.#held.values())
      if (text.trim() !== '')
        this.#output.note(this.#context.paintNote('dim', `  ${oneLine(text, 100)}`));
    this.#held.clear();
  }

  #stepFailed({ error, attempt, waitMs }: EventOf<'StepFailed'>): void {
    const { paintNote } = this.#context;
    const wait = waitMs > 0 ? `; next attempt in ${durationText(waitMs)}` : '';
    const tries = attempt > 1 ? `, attempt ${attempt}` : '';
    this.#output.note(
      `  ${paintNote('yellow', '!')} model call failed (${error.type}${tries}): ${oneLine(error.message, 160)}${wait}`,
    );
    this.#output.status(waitMs > 0 ? `waiting ${durationText(waitMs)}` : '');
  }

  #toolStarted({ toolCallId, tool, args }: EventOf<'ToolCallStarted'>): void {
    this.#running.set(toolCallId, { tool, args: argsSummary(args) });
    this.#showRunning();
  }

  #toolCompleted(event: EventOf<'ToolCallCompleted'>, isRoot: boolean): void {
    const { tool, toolCallId, success, durationMs, files } = event;
    const { paintNote } = this.#context;
    const args = this.#running.get(toolCallId)?.args ?? argsSummary(event.args);
    this.#running.delete(toolCallId);
    const mark = success ? paintNote('green', '✓') : paintNote('red', '✗');
    const result = success
      ? ['ok', filesText(files)].filter(Boolean).join(', ')
      : failureText(event);
    this.#output.note(
      [
        `${isRoot ? '' : '  '}  ${mark} ${oneLine(tool, 80)}`,
        args === '' ? '' : ` ${paintNote('dim', args)}`,
        `  ${paintNote('dim', durationText(durationMs))}  ${success ? paintNote('dim', result) : result}`,
      ].join(''),
    );
    this.#showRunning();
  }

  #toolsChanged({ unavailable }: EventOf<'ToolsChanged'>): void {
    const mark = this.#context.paintNote('yellow', '!');
    for (const { source, reason } of unavailable)
      this.#output.note(
        `  ${mark} tools of ${oneLine(source, 80)} are missing: ${oneLine(reason, 160)}`,
      );
  }

  #showRunning(): void {
    this.#output.status([...this.#running.values()].map(({ tool }) => tool).join(', '));
  }

  #whole(text: string): void {
    if (text === '') return;
    this.#gap();
    this.#output.text(text);
    this.#output.endLine();
  }

  /** Adds an empty line between two texts. */
  #gap(): void {
    this.#output.endLine();
    if (this.#hasText) this.#output.text('\n');
    this.#hasText = true;
  }
}
