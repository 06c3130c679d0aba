import { createContext, useContext, type ComponentType, type Context, type ReactNode } from 'react';
import type { JsonValue } from '../json.ts';
import type { ApprovalViewProps } from './approval-view.tsx';
import type { InputFormProps } from './input-form.tsx';
import { defaultLabels, type AgentLabels } from './labels.ts';
import type { MessageViewProps } from './message-view.tsx';
import type { StopExplanationProps } from './stop-explanation.tsx';
import type { ToolCallViewProps } from './tool-call-view.tsx';

/** Parts of the UI that you render yourself. */
export interface AgentComponents {
  readonly Message?: ComponentType<MessageViewProps>;
  readonly ToolCall?: ComponentType<ToolCallViewProps>;
  readonly Approval?: ComponentType<ApprovalViewProps>;
  readonly Input?: ComponentType<InputFormProps>;
  readonly Stop?: ComponentType<StopExplanationProps>;
}

export interface AgentUi {
  readonly labels: AgentLabels;
  readonly components: AgentComponents;
  /** Fetches the whole of a truncated value. */
  readonly fetchRef: ((ref: string) => Promise<JsonValue>) | null;
  /** Renders the text of a message, for example as Markdown. The result must be safe: the model writes the text. */
  readonly renderText: ((text: string) => ReactNode) | null;
}

const plainUi: AgentUi = {
  labels: defaultLabels,
  components: {},
  fetchRef: null,
  renderText: null,
};

export const UiContext: Context<AgentUi> = createContext(plainUi);

export const useUi = (): AgentUi => useContext(UiContext);
