import { projectOptions, type CliContext } from './cli-context.ts';
import type { OnwardConfig } from './config.ts';
import type { ProjectOptions } from './project.ts';
import { usageError } from './usage-error.ts';

/** Loads the config of a production process, which never runs the demo. */
export async function configuredProject(
  context: CliContext,
  command: string,
): Promise<ProjectOptions & { readonly config: OnwardConfig }> {
  const options = await projectOptions(context);
  const { config, folder } = options;
  if (config === null)
    throw usageError(
      `onward ${command} needs a config, and there is no onward.config.ts, .mts, .js or .mjs in ${folder}. ` +
        `Name one with --config <file>, or create one with: ${context.command('init')}`,
    );
  return { ...options, config };
}
