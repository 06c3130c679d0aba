import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { version } from '../server/version.ts';
import { visibleLines } from '../visible-text.ts';
import { cliContext, type CliContext, type CommonOptions } from './cli-context.ts';
import type { CliIo } from './cli-io.ts';
import {
  answerHelp,
  backupHelp,
  devHelp,
  exitCodeHelp,
  explainHelp,
  mainHelp,
  parkedHelp,
  resumeHelp,
  runHelp,
} from './help-text.ts';
import { paintFor } from './paint.ts';

/** Ends parsing; what is to say was said. */
export const isParserExit = (error: unknown): error is CommanderError =>
  error instanceof CommanderError;

/** Where to look after a word that does not fit: at the command that it was said to. */
function seeHelp(command: Command): string {
  const names: string[] = [];
  for (let one: Command | null = command; one; one = one.parent) names.unshift(one.name());
  return `(${names.join(' ')} --help shows what there is)`;
}

type Work = (context: CliContext) => number | Promise<number>;

/** The words of the command line. Each command is loaded when it is called. */
export function buildProgram(io: CliIo, done: (code: number) => void): Command {
  const program = withCommon(new Command('onward'))
    .description('Production agents: every run can say why it went on and why it stopped.')
    .version(version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'help of a command; exit-codes for the table of exit codes')
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, write) => write(visibleLines(text).replace(/^error: /, `${markOf(io)} `)),
      getOutHelpWidth: () => 100,
      getErrHelpWidth: () => 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .addHelpText('after', mainHelp);
  program.showHelpAfterError(seeHelp(program));

  const act = async (command: Command, work: Work): Promise<void> =>
    done(await work(cliContext(io, command.optsWithGlobals<CommonOptions>())));
  const add = (parent: Command, usage: string, description: string, help?: string): Command => {
    const command = parent.command(usage).description(description);
    command.showHelpAfterError(seeHelp(command));
    return help === undefined ? command : command.addHelpText('after', help);
  };

  add(program, 'dev', 'serve the agents with their console, on this machine', devHelp)
    .option('-p, --port <number>', 'default 4111, or the next free one', wholeNumber(0, 65_535))
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--token <token>', 'in place of the one in .onward/token')
    .option('--open', 'open the console in a browser')
    .action(async (_options, command: Command) => {
      const { dev } = await import('./commands/dev.ts');
      await act(command, (context) => dev(context, command.opts()));
    });

  add(program, 'run [message]', 'send a message and show what comes of it', runHelp)
    .option('-a, --agent <name>', 'which agent; default: the first of the config')
    .option('-s, --session <id>', 'go on in this session; default: a new one')
    .option('-y, --yes', 'approve every call that asks')
    .option('--stream', 'text as it comes, also in a pipe')
    .option(
      '-d, --detach',
      'only send it; a running `onward dev` or `onward recover` does the work',
    )
    .action(async (message: string | undefined, _options, command: Command) => {
      const { run } = await import('./commands/run.ts');
      await act(command, (context) => run(context, message, command.opts()));
    });

  add(program, 'explain <session>', 'every step, every voice, and why it stopped', explainHelp)
    .option('--step <number>', 'the voices of this step; default: the last', wholeNumber(0, 1e9))
    .option('--execution <id>', 'an earlier message of the session; default: the newest')
    .action(async (session: string, _options, command: Command) => {
      const { explain } = await import('./commands/explain.ts');
      await act(command, (context) => explain(context, session, command.opts()));
    });

  const sessions = add(program, 'sessions', 'list, show, delete, prune or expire sessions');
  add(sessions, 'list', 'newest change first, each with its reason')
    .alias('ls')
    .option('--status <status>', 'idle, processing, paused, completed, stopped, failed or parked')
    .option('--search <words>', 'in titles, ids, reasons, messages and tool names')
    .option('-a, --agent <name>', 'of this agent')
    .option('-n, --limit <number>', 'at most so many', wholeNumber(1, 10_000), 20)
    .action(async (_options, command: Command) => {
      const { listSessions } = await import('./commands/sessions-list.ts');
      await act(command, (context) => listSessions(context, command.opts()));
    });
  add(sessions, 'show <session>', 'facts, the conversation in short, what it waits for')
    .option('-n, --messages <number>', 'of the end of the conversation', wholeNumber(1, 500), 12)
    .action(async (session: string, _options, command: Command) => {
      const { showSession } = await import('./commands/sessions-show.ts');
      await act(command, (context) => showSession(context, session, command.opts()));
    });
  add(sessions, 'delete <session...>', 'leave nothing of them behind')
    .alias('rm')
    .option('-y, --yes', 'do not ask')
    .action(async (said: string[], _options, command: Command) => {
      const { deleteSessions } = await import('./commands/sessions-delete.ts');
      await act(command, (context) => deleteSessions(context, said, command.opts()));
    });

  aged(
    add(sessions, 'prune', 'drop logs and early steps of old sessions; conversations stay'),
  ).action(async (_options, command: Command) => {
    const { pruneSessions } = await import('./commands/sessions-upkeep.ts');
    await act(command, (context) => pruneSessions(context, command.opts()));
  });
  aged(add(sessions, 'expire', 'delete sessions that did not change for a long time'))
    .option('--waiting', 'also those that wait for an approval or a retry')
    .option('--dry-run', 'only say how many')
    .option('-y, --yes', 'do not ask')
    .action(async (_options, command: Command) => {
      const { expireSessions } = await import('./commands/sessions-upkeep.ts');
      await act(command, (context) => expireSessions(context, command.opts()));
    });

  worker(add(program, 'resume <session>', 'go on after a pause, or past a limit', resumeHelp))
    .option('-g, --grant <amounts>', 'such as steps=5 or tokens=20000,cost=0.5')
    .action(async (session: string, _options, command: Command) => {
      const { resume } = await import('./commands/resume.ts');
      await act(command, (context) => resume(context, session, command.opts()));
    });
  worker(add(program, 'approve <session> [call]', 'let a call run that waits for you', answerHelp))
    .option('--args <json>', 'run it with these arguments instead')
    .option('--execution <id>', 'the execution in which the call was seen')
    .action(async (session: string, call: string | undefined, _options, command: Command) => {
      const { approve } = await import('./commands/answer.ts');
      await act(command, (context) => approve(context, session, call, command.opts()));
    });
  worker(add(program, 'deny <session> [call]', 'refuse a call that waits for you', answerHelp))
    .requiredOption('-r, --reason <text>', 'why; the model reads it')
    .option('--execution <id>', 'the execution in which the call was seen')
    .action(async (session: string, call: string | undefined, _options, command: Command) => {
      const { deny } = await import('./commands/answer.ts');
      await act(command, (context) => deny(context, session, call, command.opts()));
    });
  add(program, 'stop <session>', 'end the work on a session, wherever it runs')
    .option('-r, --reason <text>', 'why; kept in the record')
    .option('-d, --detach', 'do not wait for the end')
    .action(async (session: string, _options, command: Command) => {
      const { stop } = await import('./commands/stop.ts');
      await act(command, (context) => stop(context, session, command.opts()));
    });

  add(program, 'recover', 'take up what a process that died has left')
    .option('--no-wait', 'leave what a process still holds, be it dead')
    .action(async (_options, command: Command) => {
      const { recover } = await import('./commands/recover.ts');
      await act(command, (context) => recover(context, command.opts()));
    });
  add(program, 'backup <file>', 'copy the SQLite file, also while others use it', backupHelp)
    .option('-f, --force', 'overwrite the file if it is there')
    .action(async (file: string, _options, command: Command) => {
      const { backup } = await import('./commands/backup.ts');
      await act(command, (context) => backup(context, file, command.opts()));
    });
  add(
    program,
    'vacuum',
    'write the SQLite file anew: smaller, without a trace of what was deleted',
  ).action(async (_options, command: Command) => {
    const { vacuum } = await import('./commands/backup.ts');
    await act(command, (context) => vacuum(context));
  });
  add(program, 'parked', 'what failed too often and was set aside, each with its error', parkedHelp)
    .option('--retry [session...]', 'continue these, or all')
    .action(async (_options, command: Command) => {
      const { parked } = await import('./commands/parked.ts');
      await act(command, (context) => parked(context, command.opts()));
    });
  add(program, 'init [folder]', 'write a small project that runs as it is').action(
    async (folder: string | undefined, _options, command: Command) => {
      const { init } = await import('./commands/init.ts');
      await act(command, (context) => init(context, folder));
    },
  );
  program
    .command('exit-codes', { hidden: true })
    .description('the table of exit codes')
    .helpOption(false)
    .configureHelp({ formatHelp: () => exitCodeHelp })
    .action(() => io.stdout.write(exitCodeHelp));
  return program;
}

/** Known before and behind the name of a command alike. */
const withCommon = (program: Command): Command =>
  program
    .option('-c, --config <file>', 'default: onward.config.ts, .mts, .js or .mjs in this folder')
    .option('--store <path>', 'a SQLite file in place of the one of the config')
    .option('--owner <name>', 'whose sessions; default: that of the config, else dev')
    .option('--json', 'for programs: one JSON object a line')
    .option('--no-color', 'plain text, also on a terminal')
    .addOption(new Option('--debug', 'show stack traces').hideHelp());

const aged = (command: Command): Command =>
  command
    .requiredOption('--older-than <age>', 'such as 90d, 12h, 2w, or a date: 2026-01-31')
    .option('--all-owners', 'of every owner, not only of this one');

const worker = (command: Command): Command =>
  command
    .option('-y, --yes', 'approve every further call that asks')
    .option('--stream', 'text as it comes, also in a pipe')
    .option(
      '-d, --detach',
      'only say so; a running `onward dev` or `onward recover` does the work',
    );

const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  };

const markOf = (io: CliIo): string => paintFor(io.stderr, io)('red', 'onward:');
