/** An AI SDK package that a name loads. */
export interface ProviderPackage {
  readonly name: string;
  /** Names of the function that makes a model, newest first: releases rename it. */
  readonly exports: readonly string[];
  /** Another entry of the package that serves some models. */
  readonly other?: {
    readonly models: RegExp;
    readonly path: string;
    readonly exports: readonly string[];
  };
}

/** Providers whose models come from an AI SDK package. The package reads keys and addresses from the environment. */
export const providerPackages: Readonly<Record<string, ProviderPackage>> = {
  anthropic: { name: '@ai-sdk/anthropic', exports: ['anthropic'] },
  google: { name: '@ai-sdk/google', exports: ['google'] },
  bedrock: { name: '@ai-sdk/amazon-bedrock', exports: ['amazonBedrock', 'bedrock'] },
  vertex: {
    name: '@ai-sdk/google-vertex',
    exports: ['googleVertex', 'vertex'],
    other: {
      models: /^claude-/,
      path: '/anthropic',
      exports: ['googleVertexAnthropic', 'vertexAnthropic'],
    },
  },
};
