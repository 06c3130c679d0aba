/** Tokens that a request and its answer may have together, and the names of the models. */
export type WindowRow = readonly [number, string];

/** Written by `npm run prices`, not by hand, from the source that `listPriceSource` names. */
export const windowRows: readonly WindowRow[] = [
  [128000, 'gpt-4o gpt-4o-mini gpt-5.3 gpt-5.3-chat'],
  [
    200000,
    'o3 o3-mini o3-mini-high o3-pro o4-mini o4-mini-high claude-haiku-4-5 claude-opus-4-0 claude-opus-4 claude-opus-4-1 claude-opus-4-5 claude-sonnet-4-0 claude-sonnet-4 claude-sonnet-4-5',
  ],
  [256000, 'grok-4 grok-code-fast-1 grok-code-fast codestral'],
  [262144, 'devstral mistral-large mistral-small'],
  [
    400000,
    'gpt-5 gpt-5-chat gpt-5-codex gpt-5-mini gpt-5-nano gpt-5-pro gpt-5.1 gpt-5.1-codex gpt-5.1-codex-max gpt-5.1-chat gpt-5.1-codex-mini gpt-5.2 gpt-5.2-chat gpt-5.2-codex gpt-5.2-pro gpt-5.3-codex gpt-5.4-mini gpt-5.4-nano',
  ],
  [500000, 'grok-4.5 grok-4.6'],
  [
    1000000,
    'gpt-4.1 gpt-4.1-mini gpt-4.1-nano gpt-5.5 gpt-5.5-chat gpt-5.5-codex gpt-5.5-pro claude-fable-5 claude-fable-5-1 claude-opus-4-6 claude-opus-4-7 claude-opus-4-8 claude-opus-5 claude-opus-5-5 claude-sonnet-4-6 claude-sonnet-5 gemini-2.5-flash-lite gemini-3-flash-preview gemini-3.1-flash-lite gemini-3.5-flash gemini-3.5-flash-lite gemini-3.6-flash gemini-3.7-flash gemini-3.8-flash grok-4.20 grok-4.20-multi-agent grok-4.3',
  ],
  [1048576, 'gemini-2.5-flash gemini-2.5-flash-preview-09'],
  [
    1050000,
    'gpt-5.4 gpt-5.4-pro gpt-5.6-luna gpt-5.6-sol gpt-5.6 gpt-5.6-terra gpt-6-astra gpt-6-luna gpt-6-sol',
  ],
  [
    2000000,
    'grok-4-1-fast-non-reasoning grok-4-1-fast-reasoning grok-4-1-fast grok-4-fast-non-reasoning grok-4-fast-reasoning grok-4-fast',
  ],
];
