import { AgentError } from '../errors/agent-error.ts';
import { messageOf } from '../errors/error-record.ts';
import { withoutKnown } from '../errors/known-secrets.ts';
import { logStack } from '../errors/log-text.ts';
import { defaultRedactor } from '../errors/redactor.ts';
import { visibleLines, visibleText } from '../visible-text.ts';
import { commandName } from './cli-context.ts';
import type { CliIo } from './cli-io.ts';
import { exitCodeNamed, exitCodeOfError } from './exit-codes.ts';
import { shortId } from './format.ts';
import { jsonLine } from './json-line.ts';
import { paintFor } from './paint.ts';
import { buildProgram, isParserExit } from './program.ts';

/** Runs the command: `argv` without the names of Node and of the command. Resolves with the exit code. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  let code = 0;
  try {
    await buildProgram(io, (given) => (code = given)).parseAsync([...argv], { from: 'user' });
    return code;
  } catch (error) {
    if (isParserExit(error)) return error.exitCode === 0 ? 0 : exitCodeNamed('usage');
    return printError(argv, io, error);
  }
}

/** Prints what went wrong; the stack only with --debug. */
function printError(argv: readonly string[], io: CliIo, error: unknown): number {
  const exitCode = exitCodeOfError(error);
  const message = withoutKeys(io, defaultRedactor.text(messageOf(error)));
  const paint = paintFor(io.stderr, io, !argv.includes('--no-color'));
  io.stderr.write(`${paint('red', 'onward:')} ${indented(message)}\n`);
  for (const hint of hintsFor(error, commandName(io.env)))
    io.stderr.write(`${visibleText(hint)}\n`);
  const isDebug = argv.includes('--debug') || isOn(io.env['ONWARD_DEBUG']);
  const isKnown = AgentError.is(error);
  if (isDebug) io.stderr.write(`${withoutKeys(io, stacksOf(error))}\n`);
  else if (!isKnown)
    io.stderr.write(
      'This error is unexpected. Run the command again with --debug to see the stack.\n',
    );
  if (argv.includes('--json'))
    io.stdout.write(
      jsonLine({
        type: 'error',
        error: { code: isKnown ? error.code : 'unexpected', message },
        exit_code: exitCode,
      }),
    );
  return exitCode;
}

/** Returns commands to type: the library can only name its own methods. */
function hintsFor(error: unknown, onward: string): readonly string[] {
  if (!AgentError.is(error)) return [];
  const { sessionId, executionId, pending } = error.details;
  if (typeof sessionId !== 'string') return [];
  const id = shortId(sessionId);
  if (error.code === 'conflict' && executionId !== undefined)
    return [`  ${onward} stop ${id}`, `  ${onward} recover    (if the process that ran it died)`];
  if (error.code !== 'awaiting_approval') return [];
  return Array.isArray(pending) && pending.length > 0
    ? [`  ${onward} approve ${id}`, `  ${onward} deny ${id} --reason '…'`, `  ${onward} stop ${id}`]
    : [`  ${onward} resume ${id}`, `  ${onward} stop ${id}`];
}

/** Indents all lines after the first, so that no message can pose as another line of the command. */
const indented = (message: string): string => visibleLines(message).replaceAll(/\n(?! )/g, '\n  ');

const isOn = (value: string | undefined): boolean =>
  value !== undefined && value !== '' && value !== '0' && value !== 'false';

function stacksOf(error: unknown): string {
  const stacks: string[] = [];
  for (let at: unknown = error; at instanceof Error && stacks.length < 5; at = at.cause)
    stacks.push(logStack(at));
  return stacks.join('\ncaused by ');
}

/** Removes secrets of the environment, whatever they look like. */
function withoutKeys({ env }: CliIo, text: string): string {
  const secrets = Object.entries(env)
    .filter(([name]) => defaultRedactor.isSecretKey(name))
    // PWD is the folder
    .filter(([, value]) => !value?.startsWith('/'));
  return withoutKnown(
    text,
    secrets.flatMap(([, value]) => value ?? []),
  );
}
