import type { OnwardConfig } from './config.ts';

export interface CliOutput {
  write(text: string): void;
  readonly isTTY: boolean;
}

export type CliSignal = 'SIGINT' | 'SIGTERM';

/** The environment of the command, so that a test can replace it. */
export interface CliIo {
  readonly stdout: CliOutput;
  readonly stderr: CliOutput;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether the user can be asked: input and messages are both on a terminal. */
  readonly isTTY: boolean;
  /** Asks for a line; null when the input has ended. */
  ask(question: string): Promise<string | null>;
  /** Reads everything that is piped in; null on a terminal. */
  readInput(): Promise<string | null>;
  /** Takes the streams for a protocol. What is printed afterwards, by whatever code, goes to stderr. */
  takeStdio(): { readonly stdin: object; readonly stdout: object };
  onSignal(listener: (signal: CliSignal) => void): () => void;
  /** Exits immediately. */
  exit(code: number): void;
  /** Opens a URL in the browser, if the machine has one. */
  openBrowser(url: string): void;
  /** Replaces the config file, for tests and for programs with their own. */
  readonly config?: OnwardConfig;
  /** Folder of the console's files. Default: next to this command. */
  readonly consoleDir?: string;
}
