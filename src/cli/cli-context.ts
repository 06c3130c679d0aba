import { logMessage } from '../errors/log-text.ts';
import type { CliIo } from './cli-io.ts';
import { jsonLine } from './json-line.ts';
import { paintFor, terminalLine, type Paint } from './paint.ts';
import type { Project, ProjectOptions } from './project.ts';

/** Options that every command takes. */
export interface CommonOptions {
  readonly config?: string;
  readonly store?: string;
  readonly owner?: string;
  readonly json?: boolean;
  /** False with `--no-color`. */
  readonly color?: boolean;
  readonly debug?: boolean;
}

/** One call of the command: the world, the common options, and how to speak. */
export interface CliContext {
  readonly io: CliIo;
  readonly options: CommonOptions;
  readonly isJson: boolean;
  /** Colours for stdout and for stderr. */
  readonly paint: Paint;
  readonly paintNote: Paint;
  /** A line of the answer. */
  print(line?: string): void;
  /** A line for a person, beside the answer. */
  note(line?: string): void;
  /** A whole value as one line of JSON. */
  printJson(value: unknown): void;
  /** What to type for something: with the options that lead to the same sessions. */
  command(...words: readonly string[]): string;
}

export function cliContext(io: CliIo, options: CommonOptions): CliContext {
  const isColoured = options.color !== false;
  const common = (['config', 'store', 'owner'] as const).flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [`--${name}`, quoted(value)];
  });
  return {
    io,
    options,
    isJson: options.json === true,
    paint: paintFor(io.stdout, io, isColoured),
    paintNote: paintFor(io.stderr, io, isColoured),
    print: (line = '') => io.stdout.write(`${terminalLine(line)}\n`),
    note: (line = '') => io.stderr.write(`${terminalLine(line)}\n`),
    printJson: (value) => io.stdout.write(jsonLine(value)),
    command: (...words) => [commandName(io.env), ...words, ...common].join(' '),
  };
}

/** How a shell finds the command: one that is installed in a project is on the path of npm's children alone. */
export const commandName = (env: CliIo['env']): string =>
  env['npm_command'] === undefined ? 'onward' : 'npx onward';

/** As a shell reads it. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** What the project is made of: the config given, the one of the folder, else the demo. */
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

/** Opens the project for one piece of work, and closes it whatever happens. */
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

/** Work that failed and is tried again later, here or elsewhere. */
export function noteFailure(context: CliContext, error: unknown, sessionId: string): void {
  const what = sessionId === '' ? 'The store' : `The work on session ${sessionId}`;
  context.note(`${context.paintNote('yellow', '!')} ${what} failed: ${logMessage(error)}`);
}
