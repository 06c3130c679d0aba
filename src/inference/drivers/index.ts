/** Types for custom drivers: the request of the loop, the response, and errors. */
export type {
  FinishReason,
  InferenceChunk,
  InferenceDriver,
  InferenceOptions,
  InferenceRequest,
  InferenceResponse,
  InferredToolCall,
  ResponseFormat,
  ToolChoice,
} from '../inference-driver.ts';
export { modelCallFailed, type PartialAnswer } from '../inference-error.ts';
export { modelLimiter, type ModelLimiter, type ModelLimiterOptions } from '../model-limiter.ts';
export type { ModelFactory } from '../model-registry.ts';
export { listPriceSource } from '../list-prices.ts';
export { listPrices } from '../price-list.ts';
export type { Price, PriceTable, TokenPrices } from '../prices.ts';
export type { Usage } from '../usage.ts';
export type { ErrorReport } from '../../errors/error-record.ts';
export type { ToolSchema } from '../../tools/tool.ts';
