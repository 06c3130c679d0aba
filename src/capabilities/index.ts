export {
  guardInput,
  guardOutput,
  guardTools,
  type AnswerToGuard,
  type CallsToGuard,
  type GuardBlock,
  type GuardDecision,
  type GuardInputOptions,
  type GuardOptions,
  type GuardOutputOptions,
  type GuardToolsOptions,
  type MessageToGuard,
} from './guards.ts';
export type { GuardContext, GuardUsage } from '../agent/ask-guards.ts';
export { toolSearch, type ToolSearchOptions } from './tool-search.ts';
