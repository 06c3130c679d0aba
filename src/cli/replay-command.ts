import { InvalidArgumentError, Option, type Command } from 'commander';
import { policyNames } from '../replay/named-policies.ts';
import { replayHelp } from './help-text.ts';
import { wholeNumber, type Act, type Add } from './process-commands.ts';

/** Adds the command that judges a recorded run again. */
export function addReplay(program: Command, add: Add, act: Act): void {
  add(program, 'replay <session>', 'judge a recorded run again with other limits', replayHelp)
    .option('--max-steps <number>', 'step limit', wholeNumber(1, 1e6))
    .option('--max-tokens <number>', 'token limit', wholeNumber(1, 1e12))
    .option('--max-cost <dollars>', 'cost limit', amount)
    .option('--seconds <number>', 'time limit', amount)
    .addOption(
      new Option('--error-policy <name>', 'error policy of Onward').choices([...policyNames]),
    )
    .option('--execution <id>', 'execution of an earlier message; default: the newest')
    .action(async (session: string, _options, command: Command) => {
      const { replay } = await import('./commands/replay.ts');
      await act(command, (context) => replay(context, session, command.opts()));
    });
}

function amount(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('Expected a number above 0.');
}
