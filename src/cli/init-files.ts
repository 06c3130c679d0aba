export interface InitFile {
  readonly name: string;
  readonly text: string;
}

export interface InitChoices {
  /** Extension of files that the project's Node reads as modules. */
  readonly ending: 'ts' | 'mts' | 'mjs';
  /** Packages that the project needs in addition to onward, with their versions. */
  readonly packages: Readonly<Record<string, string>>;
  readonly name: string;
  readonly version: string;
}

/** Creates a small project that works without a key or a network. */
export function initFiles(choices: InitChoices): readonly InitFile[] {
  const { ending } = choices;
  return [
    { name: `onward.config.${ending}`, text: configText(ending) },
    { name: `scripted-model.${ending}`, text: scriptedModelText(ending !== 'mjs') },
    { name: 'package.json', text: packageText(choices) },
  ];
}

/** A line of the user's file, which must not look like one of ours. */
const importLine = (names: string, source: string): string =>
  ['import', names, 'from', `'${source}';`].join(' ');

const configText = (ending: string): string =>
  [
    importLine('{ createAgent, defineTool, ErrorPolicy }', 'onward'),
    importLine('{ defineConfig }', 'onward/config'),
    importLine('{ scriptedModel }', `./scripted-model.${ending}`),
    '',
    configBody,
  ].join('\n');

const configBody = `const countWords = defineTool({
  name: 'count_words',
  description: 'Counts the words of a text.',
  parameters: {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
  },
  execute: ({ text }) => ({ words: String(text).split(/\\s+/).filter(Boolean).length }),
});

// a real model is its name: 'openai:gpt-5', 'anthropic:…', 'google:…', 'ollama:…', or any model of the AI SDK
const model = process.env['OPENAI_API_KEY'] ? 'openai:gpt-5-mini' : scriptedModel;

const assistant = createAgent({
  name: 'assistant',
  systemPrompt: 'You help with texts. Count words with the tool, never by yourself.',
  model,
  tools: [countWords],
  maxSteps: 5,
  errorPolicy: ErrorPolicy.production(),
  compaction: true,
});

export default defineConfig({
  agents: [
    {
      agent: assistant,
      title: 'Assistant',
      isDemo: model === scriptedModel,
      suggestions: ['How many words are in this sentence?'],
    },
  ],
});
`;

const scriptedModelText = (isTypeScript: boolean): string => `${
  isTypeScript ? `${importLine('type { InferenceDriver }', 'onward')}\n\n` : ''
}/** Answers if there is no key: calls the tool once, then repeats its result. Delete it when you have a model. */
export const scriptedModel = {
  name: 'scripted',
  async infer({ messages }) {
    const last = messages.last();
    const usage = { input: 20, output: 10, total: 30 };
    if (last?.isTool())
      return { content: \`The tool says: \${last.text}\`, toolCalls: [], finishReason: 'stop', usage };
    const args = { text: last?.text ?? '' };
    return { content: '', toolCalls: [{ name: 'count_words', args }], finishReason: 'tool_calls', usage };
  },
}${isTypeScript ? ' satisfies InferenceDriver' : ''};
`;

const packageText = ({ name, version, packages }: InitChoices): string =>
  `${JSON.stringify(
    {
      name,
      private: true,
      type: 'module',
      scripts: { dev: 'onward dev', start: 'onward dev' },
      dependencies: { onward: `^${version}`, ...packages },
    },
    null,
    2,
  )}\n`;
