import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createAgent, defineTool, ErrorPolicy, type Agent } from 'onward';
import * as z from 'zod';
import { scriptedModel } from './scripted-model.ts';

// a real one: const model = openai('gpt-5-mini'), from 'onward/drivers/openai'
const model = scriptedModel();

/** Looks after the files of one folder: it may list and read them, and asks before it deletes one. */
export function fileAgent(folder: string): Agent {
  const file = z.object({ file: z.string().describe('The name of a file in the folder.') });
  // only the last part of a path counts, so nothing outside the folder can be named
  const inFolder = (name: string): string => join(folder, basename(name));

  const listFiles = defineTool({
    name: 'list_files',
    description: 'The names of the files in the folder.',
    execute: async () => {
      const entries = await readdir(folder, { withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    },
  });
  const readText = defineTool({
    name: 'read_file',
    description: 'The beginning of a text file.',
    parameters: file,
    execute: async ({ file }) => (await readFile(inFolder(file), 'utf8')).slice(0, 4_000),
  });
  const deleteFile = defineTool({
    name: 'delete_file',
    description: 'Deletes a file permanently.',
    parameters: file,
    needsApproval: true,
    execute: async ({ file }) => {
      await rm(inFolder(file));
      return `${file} is deleted`;
    },
  });

  return createAgent({
    name: 'files',
    systemPrompt: 'You look after the files of one folder.',
    model,
    tools: [listFiles, readText, deleteFile],
    errorPolicy: ErrorPolicy.retryToolErrors(2), // the model sees what failed, and may try again
    maxSteps: 5,
  });
}
