import { Command, CommanderError, Option } from 'commander';
import { version } from '../server/version.ts';
import { visibleLines } from '../visible-text.ts';
import { cliContext, type CommonOptions } from './cli-context.ts';
import type { CliIo } from './cli-io.ts';
import { addExports } from './export-commands.ts';
import {
  answerHelp,
  backupHelp,
  devHelp,
  exitCodeHelp,
  explainHelp,
  inputHelp,
  mainHelp,
  pricesHelp,
  resumeHelp,
  runHelp,
} from './help-text.ts';
import { paintFor } from './paint.ts';
import {
  addEval,
  addMcp,
  addOperators,
  addProcesses,
  wholeNumber,
  type Act,
  type Add,
} from './process-commands.ts';
import { addReplay } from './replay-command.ts';

/** Ends parsing after all output was written. */
export const isParserExit = (error: unknown): error is CommanderError =>
  error instanceof CommanderError;

/** Adds the help command after an unknown word or option. */
function seeHelp(command: Command): string {
  const names: string[] = [];
  for (let one: Command | null = command; one; one = one.parent) names.unshift(one.name());
  return `(${names.join(' ')} --help lists commands and options)`;
}

/** Builds the command line. Each command is loaded when it is called. */
export function buildProgram(io: CliIo, done: (code: number) => void): Command {
  const program = withCommon(new Command('onward'))
    .description('Production agents: every run explains why it continued and why it stopped.')
    .version(version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command, or the table of exit-codes')
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

  const act: Act = async (command, work) =>
    done(await work(cliContext(io, command.optsWithGlobals<CommonOptions>())));
  const add: Add = (parent, usage, description, help) => {
    const command = parent.command(usage).description(description);
    command.showHelpAfterError(seeHelp(command));
    return help === undefined ? command : command.addHelpText('after', help);
  };

  add(program, 'dev', 'serve the agents with their console, on this machine', devHelp)
    .option(
      '-p, --port <number>',
      'port; default: 4111, or the next free one',
      wholeNumber(0, 65_535),
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--token <token>', 'token; default: the one in .onward/token')
    .option('--open', 'open the console in a browser')
    .action(async (_options, command: Command) => {
      const { dev } = await import('./commands/dev.ts');
      await act(command, (context) => dev(context, command.opts()));
    });

  addProcesses(program, add, act);
  addMcp(program, add, act);

  add(program, 'run [message]', 'send a message and print the answer', runHelp)
    .option('-a, --agent <name>', 'agent; default: the first of the config')
    .option('-s, --session <id>', 'session to continue; default: a new one')
    .option('-y, --yes', 'approval of every call')
    .option('--stream', 'text as it arrives, also in a pipe')
    .option(
      '-d, --detach',
      'send without waiting; a running `onward dev`, `serve`, `worker` or `recover` does the work',
    )
    .action(async (message: string | undefined, _options, command: Command) => {
      const { run } = await import('./commands/run.ts');
      await act(command, (context) => run(context, message, command.opts()));
    });

  add(
    program,
    'explain <session>',
    'show each step, each criterion and why the run stopped',
    explainHelp,
  )
    .option(
      '--step <number>',
      'step whose criteria are shown; default: the last',
      wholeNumber(0, 1e9),
    )
    .option('--execution <id>', 'execution of an earlier message; default: the newest')
    .option('--call <id>', 'call that ran an agent: explains that agent, at any depth')
    .option('--request', 'what the model was sent and answered in the step, redacted')
    .action(async (session: string, _options, command: Command) => {
      const { explain } = await import('./commands/explain.ts');
      await act(command, (context) => explain(context, session, command.opts()));
    });

  addReplay(program, add, act);
  addEval(program, add, act);

  const sessions = add(program, 'sessions', 'list, show, delete, prune or expire sessions');
  add(sessions, 'list', 'list sessions with their reasons, the last changed first')
    .alias('ls')
    .option('--status <status>', 'idle, processing, paused, completed, stopped, failed or parked')
    .option('--search <words>', 'words in titles, ids, reasons, messages and tool names')
    .option('-a, --agent <name>', 'agent of the sessions')
    .option('-n, --limit <number>', 'maximum number', wholeNumber(1, 10_000), 20)
    .action(async (_options, command: Command) => {
      const { listSessions } = await import('./commands/sessions-list.ts');
      await act(command, (context) => listSessions(context, command.opts()));
    });
  add(sessions, 'show <session>', 'show a session, its last messages and what it waits for')
    .option('-n, --messages <number>', 'number of messages from the end', wholeNumber(1, 500), 12)
    .action(async (session: string, _options, command: Command) => {
      const { showSession } = await import('./commands/sessions-show.ts');
      await act(command, (context) => showSession(context, session, command.opts()));
    });
  add(sessions, 'delete <session...>', 'delete sessions and all their data')
    .alias('rm')
    .option('-y, --yes', 'no confirmation')
    .action(async (said: string[], _options, command: Command) => {
      const { deleteSessions } = await import('./commands/sessions-delete.ts');
      await act(command, (context) => deleteSessions(context, said, command.opts()));
    });

  aged(
    add(sessions, 'prune', 'delete logs and early steps of old sessions; conversations stay'),
  ).action(async (_options, command: Command) => {
    const { pruneSessions } = await import('./commands/sessions-upkeep.ts');
    await act(command, (context) => pruneSessions(context, command.opts()));
  });
  aged(add(sessions, 'expire', 'delete sessions that have not changed for a long time'))
    .option('--waiting', 'also sessions that need approval or a retry')
    .option('--dry-run', 'number of sessions only; delete nothing')
    .option('-y, --yes', 'no confirmation')
    .action(async (_options, command: Command) => {
      const { expireSessions } = await import('./commands/sessions-upkeep.ts');
      await act(command, (context) => expireSessions(context, command.opts()));
    });

  working(add(program, 'resume <session>', 'continue after a pause or a limit', resumeHelp))
    .option('-g, --grant <amounts>', 'amounts, such as steps=5 or tokens=20000,cost=0.5')
    .action(async (session: string, _options, command: Command) => {
      const { resume } = await import('./commands/resume.ts');
      await act(command, (context) => resume(context, session, command.opts()));
    });
  working(add(program, 'approve <session> [call]', 'approve a tool call', answerHelp))
    .option('--all', 'approve all calls that wait now')
    .option('--remember', 'also approve later calls of the tool in this session')
    .option('--args <json>', 'arguments to run it with instead')
    .option('--execution <id>', 'execution in which you saw the call')
    .action(async (session: string, call: string | undefined, _options, command: Command) => {
      const { approve } = await import('./commands/answer.ts');
      await act(command, (context) => approve(context, session, call, command.opts()));
    });
  add(program, 'rules <session>', 'list remembered approvals, or revoke one')
    .option('--revoke <rule>', 'id of the rule, or its beginning')
    .action(async (session: string, _options, command: Command) => {
      const { rules } = await import('./commands/rules.ts');
      await act(command, (context) => rules(context, session, command.opts()));
    });
  working(add(program, 'deny <session> [call]', 'deny a tool call', answerHelp))
    .requiredOption('-r, --reason <text>', 'reason, which the model reads')
    .option('--execution <id>', 'execution in which you saw the call')
    .action(async (session: string, call: string | undefined, _options, command: Command) => {
      const { deny } = await import('./commands/answer.ts');
      await act(command, (context) => deny(context, session, call, command.opts()));
    });
  working(add(program, 'answer <session> [input]', 'answer a question of a tool', inputHelp))
    .option('--content <json>', 'the fields of the form')
    .option('--accept', 'the address was opened and everything there is done')
    .option('--decline', 'no answer, on purpose')
    .option('--cancel', 'no answer')
    .option('--execution <id>', 'execution in which you saw the question')
    .action(async (session: string, input: string | undefined, _options, command: Command) => {
      const { answerQuestion } = await import('./commands/answer-question.ts');
      await act(command, (context) => answerQuestion(context, session, input, command.opts()));
    });
  add(program, 'stop <session>', 'stop a session, in any process')
    .option('-r, --reason <text>', 'reason, which is recorded')
    .option('-d, --detach', 'no wait for the end')
    .action(async (session: string, _options, command: Command) => {
      const { stop } = await import('./commands/stop.ts');
      await act(command, (context) => stop(context, session, command.opts()));
    });

  add(program, 'recover', 'recover sessions that a stopped process left unfinished')
    .option('--no-wait', 'skip sessions whose lease has not expired')
    .action(async (_options, command: Command) => {
      const { recover } = await import('./commands/recover.ts');
      await act(command, (context) => recover(context, command.opts()));
    });
  add(program, 'backup <file>', 'copy the SQLite file, also while it is in use', backupHelp)
    .option('-f, --force', 'overwrite an existing file')
    .action(async (file: string, _options, command: Command) => {
      const { backup } = await import('./commands/backup.ts');
      await act(command, (context) => backup(context, file, command.opts()));
    });
  add(program, 'vacuum', 'rewrite the SQLite file: smaller, without any deleted data').action(
    async (_options, command: Command) => {
      const { vacuum } = await import('./commands/backup.ts');
      await act(command, (context) => vacuum(context));
    },
  );
  addExports(program, add, act);
  addOperators(program, add, act);
  add(program, 'prices [model...]', 'list the prices of models', pricesHelp).action(
    async (models: string[], _options, command: Command) => {
      const { prices } = await import('./commands/prices.ts');
      await act(command, (context) => prices(context, models));
    },
  );
  add(program, 'init [folder]', 'create a small project that runs without changes').action(
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

/** Options before and after the name of a command. */
const withCommon = (program: Command): Command =>
  program
    .option(
      '-c, --config <file>',
      'config file; default: onward.config.ts, .mts, .js or .mjs in this folder',
    )
    .option('--store <path>', "SQLite file, instead of the config's store")
    .option('--owner <name>', "owner of the sessions; default: the config's, else dev")
    .option('--json', 'one JSON object per line, for programs')
    .option('--no-color', 'plain text, also on a terminal')
    .addOption(new Option('--debug', 'show stack traces').hideHelp());

const aged = (command: Command): Command =>
  command
    .requiredOption(
      '--older-than <age>',
      'age such as 90d, 12h or 2w, or a date such as 2026-01-31',
    )
    .option('--all-owners', 'sessions of every owner');

const working = (command: Command): Command =>
  command
    .option('-y, --yes', 'approval of every further call')
    .option('--stream', 'text as it arrives, also in a pipe')
    .option(
      '-d, --detach',
      'request without waiting; a running `onward dev`, `serve`, `worker` or `recover` does the work',
    );

const markOf = (io: CliIo): string => paintFor(io.stderr, io)('red', 'onward:');
