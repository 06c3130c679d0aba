import { InvalidArgumentError, Option, type Command } from 'commander';
import type { CliContext } from './cli-context.ts';
import {
  evalHelp,
  mcpHelp,
  parkedHelp,
  queueHelp,
  serveHelp,
  workerHelp,
  workersHelp,
} from './help-text.ts';

type Work = (context: CliContext) => number | Promise<number>;
export type Act = (command: Command, work: Work) => Promise<void>;
export type Add = (parent: Command, usage: string, description: string, help?: string) => Command;

/** Adds the processes of production, which run until a signal drains them. */
export function addProcesses(program: Command, add: Add, act: Act): void {
  add(program, 'serve', 'serve the API in production, with the users of the config', serveHelp)
    .option('-p, --port <number>', "port; default: the config's, else 4111", wholeNumber(0, 65_535))
    .option('--host <address>', 'address to listen on', '0.0.0.0')
    .option('--no-work', 'no runs in this process; `onward worker` processes do the work')
    .addOption(graceOption())
    .addOption(
      new Option('--drain-delay <seconds>', 'time to serve on after SIGTERM, not ready')
        .argParser(wholeNumber(0, 600))
        .default(0),
    )
    .action(async (_options, command: Command) => {
      const { serve } = await import('./commands/serve.ts');
      await act(command, (context) => serve(context, command.opts()));
    });
  add(program, 'worker', 'run sessions of the config without HTTP', workerHelp)
    .option(
      '--concurrency <number>',
      "sessions at the same time; default: the queue's",
      wholeNumber(1, 1e6),
    )
    .option('--agents <names>', 'agents to run, such as a,b; default: all of the config', nameList)
    .addOption(graceOption())
    .option('--health-port <number>', 'port of /healthz and /readyz', wholeNumber(0, 65_535))
    .option('--host <address>', 'address of the health port', '0.0.0.0')
    .action(async (_options, command: Command) => {
      const { worker } = await import('./commands/worker.ts');
      await act(command, (context) => worker(context, command.opts()));
    });
}

/** Adds the process that an MCP client starts. */
export function addMcp(program: Command, add: Add, act: Act): void {
  add(program, 'mcp', 'serve the agents to an MCP client over stdin and stdout', mcpHelp)
    .option(
      '--agents <names>',
      'agents to offer, such as a,b; default: all of the config',
      nameList,
    )
    .addOption(graceOption(2))
    .action(async (_options, command: Command) => {
      const { mcp } = await import('./commands/mcp.ts');
      await act(command, (context) => mcp(context, command.opts()));
    });
}

/** Adds what operators read and retry, over all owners. */
export function addOperators(program: Command, add: Add, act: Act): void {
  add(program, 'workers', 'list the workers of all processes and their leases', workersHelp)
    .option('-w, --watch', 'a new list every 2 seconds, until Ctrl-C')
    .action(async (_options, command: Command) => {
      const { workers } = await import('./commands/workers.ts');
      await act(command, (context) => workers(context, command.opts()));
    });
  add(program, 'queue', 'count sessions that wait, run or are parked, by agent', queueHelp)
    .option('-w, --watch', 'new counts every 2 seconds, until Ctrl-C')
    .action(async (_options, command: Command) => {
      const { queue } = await import('./commands/queue.ts');
      await act(command, (context) => queue(context, command.opts()));
    });
  add(program, 'parked', 'list sessions that failed too often, with their errors', parkedHelp)
    .option('--retry [session...]', 'sessions to retry; default: all that are listed')
    .option('-a, --agent <name>', 'agent of the sessions')
    .option('-n, --limit <number>', 'maximum number', wholeNumber(1, 10_000), 100)
    .option('-y, --yes', 'no confirmation')
    .option('--by <name>', 'who retries, for the record; default: the user of the system')
    .action(async (_options, command: Command) => {
      const { parked } = await import('./commands/parked.ts');
      await act(command, (context) => parked(context, command.opts()));
    });
}

/** Adds the command that runs evals. */
export function addEval(program: Command, add: Add, act: Act): void {
  add(program, 'eval [names...]', 'run evals, and compare them with the run before', evalHelp)
    .option('-f, --filter <text>', 'only cases with this text in their name or tags')
    .option('-r, --repeats <number>', 'runs of each case', wholeNumber(1, 1_000))
    .option('--concurrency <number>', 'runs at the same time', wholeNumber(1, 1_000))
    .option(
      '-b, --baseline <run>',
      'number of a stored run, a report file, or none; default: the run before',
    )
    .option('--junit <file>', 'file for the results as JUnit XML')
    .option('--report <file>', 'file for the results as JSON')
    .option('--no-save', 'no report in .onward/evals')
    .option('--record', 'each run as a session of the store, with its trace')
    .action(async (names: readonly string[], _options, command: Command) => {
      const { runEvals } = await import('./commands/run-evals.ts');
      await act(command, (context) => runEvals(context, names, command.opts()));
    });
}

const graceOption = (seconds: number = 25): Option =>
  new Option('--grace <seconds>', 'time for running work after SIGTERM')
    .argParser(wholeNumber(0, 86_400))
    .default(seconds);

/** Parses names with commas between them. */
export function nameList(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.every((name) => name !== '')) return names;
  throw new InvalidArgumentError('Expected names with commas between them, such as a,b.');
}

/** Parses a whole number within bounds. */
export const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  };
