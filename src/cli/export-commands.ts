import type { Command } from 'commander';
import { exportHelp, importHelp } from './help-text.ts';
import { nameList, type Act, type Add } from './process-commands.ts';

/** Adds the commands that write a session to a file, and read one. */
export function addExports(program: Command, add: Add, act: Act): void {
  add(program, 'export <session>', 'write a session as JSON lines, without secrets', exportHelp)
    .option('-o, --out <file>', 'file to write, readable only by you; default: stdout')
    .option('-f, --force', 'overwrite an existing file')
    .option('--test', 'write a vitest file that repeats the session with a scripted model')
    .option(
      '--recorded <tools>',
      'tools that answer from the recording, such as a,b, or all; with --test',
      nameList,
    )
    .option('--unredacted', 'keep secrets, for a file that stays with you')
    .action(async (session: string, _options, command: Command) => {
      const { exportCommand } = await import('./commands/export.ts');
      await act(command, (context) => exportCommand(context, session, command.opts()));
    });
  add(program, 'import <file>', 'import an exported session, to read it', importHelp)
    .option('--id <id>', 'id of the imported session; default: a new one')
    .action(async (file: string, _options, command: Command) => {
      const { importCommand } = await import('./commands/import.ts');
      await act(command, (context) => importCommand(context, file, command.opts()));
    });
}
