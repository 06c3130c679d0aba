import { logMessage } from '../errors/log-text.ts';
import type { CliIo } from './cli-io.ts';
import { jsonLine } from './json-line.ts';
import { paintFor, terminalLine, type Paint } from './paint.ts';
import type { Project, ProjectOptions } from './project.ts';

/** Options of every command. */
export interface CommonOptions {
  readonly config?: string;
  readonly store?: string;
  readonly owner?: string;
  readonly json?: boolean;
  /** Whether to use colors; false with `--no-color`. */
  readonly color?: boolean;
  readonly debug?: boolean;
}

/** One invocation: environment, common options and output. */
export interface CliContext {
  readonly io: CliIo;
  readonly options: CommonOptions;
  readonly isJson: boolean;
  /** Colors for stdout and for stderr. */
  readonly paint: Paint;
  readonly paintNote: Paint;
  /** Prints a line of the answer on stdout. */
  print(line?: string): void;
  /** Prints a line for the user on stderr. */
  note(line?: string): void;
  /** Prints a value as one line of JSON. */
  printJson(value: unknown): void;
  /** Formats a command to type, with the options that select the same sessions. */
  command(...words: readonly string[]): string;
}

export function cliContext(io: CliIo, options: CommonOptions): CliContext {
  const isColored = options.color !== false;
  const common = (['config', 'store', 'owner'] as const).flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [`--${name}`, quoted(value)];
  });
  return {
    io,
    options,
    isJson: options.json === true,
    paint: paintFor(io.stdout, io, isColored),
    paintNote: paintFor(io.stderr, io, isColored),
    print: (line = '') => io.stdout.write(`${terminalLine(line)}\n`),
    note: (line = '') => io.stderr.write(`${terminalLine(line)}\n`),
    printJson: (value) => io.stdout.write(jsonLine(value)),
    command: (...words) => [commandName(io.env), ...words, ...common].join(' '),
  };
}

/** How a shell finds the command: in a project, only children of npm have it on their path. */
export const commandName = (env: CliIo['env']): string =>
  env['npm_command'] === undefined ? 'onward' : 'npx onward';

/** Quotes a text for a shell. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** Loads the project: the named config, the one of the folder, else the demo. */
export async function projectOptions({ io, options }: CliContext): Promise<ProjectOptions> {
  // loaded when a command needs them: help does not
  const [{ checkedConfig }, { loadConfig }] = await Promise.all([
    import('./check-config.ts'),
    import('./load-config.ts'),
  ]);
  const loaded = io.config
    ? { config: checkedConfig(io.config, 'config'), folder: io.cwd }
    : await loadConfig(io.cwd, options.config);
  return {
    config: loaded?.config ?? null,
    folder: loaded?.folder ?? io.cwd,
    env: io.env,
    ...(options.store !== undefined && { store: options.store }),
    ...(options.owner !== undefined && { owner: options.owner }),
  };
}

/** Opens the project for one task, and always closes it. */
export async function withProject<T>(
  context: CliContext,
  work: (project: Project) => Promise<T>,
  more: Partial<ProjectOptions> = {},
): Promise<T> {
  const { openProject } = await import('./project.ts');
  const project = await openProject({
    ...(await projectOptions(context)),
    onError: (error, sessionId) => noteFailure(context, error, sessionId),
    ...more,
  });
  try {
    return await work(project);
  } finally {
    await project.close();
  }
}

/** Notes work that failed and is retried later, here or in another process. */
export function noteFailure(context: CliContext, error: unknown, sessionId: string): void {
  const what = sessionId === '' ? 'The store' : `The work on session ${sessionId}`;
  context.note(`${context.paintNote('yellow', '!')} ${what} failed: ${logMessage(error)}`);
}
