'use client';

export { AgentChat, type AgentChatProps } from './agent-chat.tsx';
export { ApprovalList, type ApprovalListProps } from './approval-list.tsx';
export { ApprovalView, type ApprovalViewProps } from './approval-view.tsx';
export { Composer, type ComposerProps } from './composer.tsx';
export { ConnectionNote, type ConnectionNoteProps } from './connection-note.tsx';
export { Conversation, type ConversationProps } from './conversation.tsx';
export { InputForm, type InputFormProps } from './input-form.tsx';
export { InputList, type InputListProps } from './input-list.tsx';
export { defaultLabels, type AgentLabels, type ToolState } from './labels.ts';
export { MessageView, type MessageViewProps } from './message-view.tsx';
export { ReasoningView, type ReasoningViewProps } from './reasoning-view.tsx';
export { StopExplanation, type StopExplanationProps } from './stop-explanation.tsx';
export { ToolCallView, type ToolCallViewProps } from './tool-call-view.tsx';
export type { ToolCallItem } from './tool-calls.tsx';
export { AgentUiProvider, type AgentUiProviderProps } from './ui-provider.tsx';
export type { AgentComponents } from './ui-context.ts';
export { UsageView, type UsageViewProps } from './usage-view.tsx';
export {
  useAgentSession,
  type AgentSession,
  type UseAgentSessionOptions,
} from './use-agent-session.ts';
export { ValueView, type ValueViewProps } from './value-view.tsx';
