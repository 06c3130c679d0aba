import { visibleProse } from '../visible-text.ts';
import type { CliContext } from './cli-context.ts';
import { oneLine } from './format.ts';

const CLEAR_LINE = '\r\u001b[2K';

/** Both outputs of a command with live work: the answer, notes, and a line that shows what runs. */
export class TerminalOutput {
  readonly #context: CliContext;
  readonly #hasStatus: boolean;
  #status = '';
  /** Whether the answer is in the middle of a line. */
  #isMidLine = false;

  constructor(context: CliContext) {
    this.#context = context;
    this.#hasStatus = context.io.stderr.isTTY && context.io.env['TERM'] !== 'dumb';
  }

  /** Writes text of the answer as it arrives: unchanged to a pipe, with control characters escaped to a terminal. */
  text(content: string): void {
    if (content === '') return;
    const { stdout } = this.#context.io;
    this.#clear();
    stdout.write(stdout.isTTY ? visibleProse(content) : content);
    this.#isMidLine = !content.endsWith('\n');
  }

  endLine(): void {
    if (!this.#isMidLine) return;
    this.#context.io.stdout.write('\n');
    this.#isMidLine = false;
  }

  note(line: string = ''): void {
    this.#clear();
    // on one terminal both outputs share the lines
    if (this.#context.io.stdout.isTTY) this.endLine();
    this.#context.note(line);
  }

  /** Shows what runs until the next output. Only on a terminal, and not in the middle of a line. */
  status(text: string): void {
    if (!this.#hasStatus || this.#isMidLine) return;
    this.#clear();
    if (text === '') return;
    const { paintNote, io } = this.#context;
    io.stderr.write(paintNote('dim', `  … ${oneLine(text, 70)}`));
    this.#status = text;
  }

  #clear(): void {
    if (this.#status === '') return;
    this.#context.io.stderr.write(CLEAR_LINE);
    this.#status = '';
  }
}
