import { visibleProse } from '../visible-text.ts';
import type { CliContext } from './cli-context.ts';
import { oneLine } from './format.ts';

const CLEAR_LINE = '\r\u001b[2K';

/** Both outputs of a command that shows work while it continues: the answer, notes, and a line that says what runs. */
export class TerminalOutput {
  readonly #context: CliContext;
  readonly #hasStatus: boolean;
  #status = '';
  /** The answer stands in the middle of a line. */
  #isMidLine = false;

  constructor(context: CliContext) {
    this.#context = context;
    this.#hasStatus = context.io.stderr.isTTY && context.io.env['TERM'] !== 'dumb';
  }

  /** Text of the answer, as it comes. A pipe gets it as it is, a terminal with escapes in place of what could steer it. */
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

  /** What runs now; gone with the next word. Only on a terminal, and not in the middle of a line. */
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
