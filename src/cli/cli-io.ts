import type { OnwardConfig } from './config.ts';

export interface CliOutput {
  write(text: string): void;
  readonly isTTY: boolean;
}

export type CliSignal = 'SIGINT' | 'SIGTERM';

/** Everything that the command has of the world, so that a test can give it another one. */
export interface CliIo {
  readonly stdout: CliOutput;
  readonly stderr: CliOutput;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** A person can be asked: input and messages are both on a terminal. */
  readonly isTTY: boolean;
  /** Null when the input has ended. */
  ask(question: string): Promise<string | null>;
  /** All that is piped in; null on a terminal. */
  readInput(): Promise<string | null>;
  onSignal(listener: (signal: CliSignal) => void): () => void;
  /** Leaves at once. */
  exit(code: number): void;
  /** Shows an address in the browser, as far as the machine has one. */
  openBrowser(url: string): void;
  /** In place of a config file, for tests and for programs that bring their own. */
  readonly config?: OnwardConfig;
  /** Where the console's files are. Default: beside this command. */
  readonly consoleDir?: string;
}
