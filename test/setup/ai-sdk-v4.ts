import { createOpenAI as preview } from 'ai-sdk-openai-v4';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installed } from './installed.ts';

/** Whether v4 models come from the released package, which needs Node 22. */
export const isReleasedV4: boolean = Number(process.versions.node.split('.')[0]) >= 22;

/** Creates v4 models. Node 20 uses the last preview that runs there, which has another file format. */
export const createOpenAIv4: typeof preview = isReleasedV4 ? await released() : preview;

async function released(): Promise<typeof preview> {
  const folder = join(installed('test/tools/node-22'), 'package.json');
  const file = createRequire(folder).resolve('@ai-sdk/openai');
  const { createOpenAI } = (await import(pathToFileURL(file).href)) as {
    readonly createOpenAI: typeof preview;
  };
  return createOpenAI;
}
