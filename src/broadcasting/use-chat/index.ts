export {
  type OnwardDataParts,
  type OnwardInput,
  type OnwardMark,
  type OnwardMetadata,
  type OnwardRetry,
  type OnwardWorker,
  type OnwardStatus,
  type OnwardStop,
  type UiFinishReason,
  type UiMessageChunk,
} from './use-chat-chunk.ts';
export type { ChatErrorCode } from './use-chat-errors.ts';
export { sessionEvents } from './use-chat-feed.ts';
export { chatHandler, type ChatHandlerOptions } from './use-chat-handler.ts';
export {
  toUseChatMessages,
  type HistoryOptions,
  type UiChatMessage,
  type UiChatPart,
  type UiToolPart,
} from './use-chat-history.ts';
export {
  UI_MESSAGE_STREAM_HEADERS,
  uiMessageResponse,
  uiMessageStream,
  type UiMessageResponseOptions,
  type UiMessageStreamOptions,
} from './use-chat-stream.ts';
