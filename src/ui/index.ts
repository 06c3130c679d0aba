export { newUiState } from './reducer-state.ts';
export { reduceEnvelope, reduceRefill, skipGap } from './reduce-envelope.ts';
export { acceptUserMessage, withoutUserMessage, withUserMessage } from './sent-messages.ts';
export { reconcile } from './with-history.ts';
export { toUiMessages, type StepResults, type UiMessagesOptions } from './to-ui-messages.ts';
export {
  hasToolError,
  isToolCallMessage,
  isToolResultMessage,
  shouldRenderAssistantContent,
} from './message-rules.ts';
export { stopText, type StopText } from './stop-text.ts';
export type { InputAnswer } from '../tools/input-request.ts';
export type { LogPlace, UiApproval, UiInput, UiState, UiStop } from './ui-state.ts';
export type {
  UiContinuation,
  UiMessage,
  UiMetadata,
  UiRole,
  UiStatusType,
  UiToolCall,
} from './ui-message.ts';
export type { Connection, EnvelopeSink, EnvelopeSource } from './sources/envelope-source.ts';
export { sseSource, type SseSourceOptions } from './sources/sse-source.ts';
export { echoSource, type EchoClient, type EchoSourceOptions } from './sources/echo-source.ts';
export {
  pusherSource,
  type PusherClient,
  type PusherSourceOptions,
} from './sources/pusher-source.ts';
export type { PusherChannel } from './sources/channel-link.ts';
export type { ChannelOptions } from './sources/channel-source.ts';
export { channelAuthorizer, type ChannelAuthorizerOptions } from './sources/channel-authorizer.ts';
export {
  refReader,
  type HttpOptions,
  type ReadOptions,
  type RefReaderOptions,
} from './sources/http-reads.ts';
export {
  HttpActionError,
  httpActions,
  httpSession,
  type HttpActionsOptions,
  type HttpSessionOptions,
} from './sources/http-actions.ts';
export { SourceError, type SourceErrorCode } from './sources/source-error.ts';
export {
  connectSession,
  sessionViewStore,
  type SessionViewStore,
  type SessionViewStoreOptions,
  type SessionView,
} from './sources/session-view-store.ts';
export {
  sessionController,
  type ActionKind,
  type AgentSessionActions,
  type SessionAction,
  type SessionController,
} from './sources/session-actions.ts';
