import type { ReactElement } from 'react';
import type { Grants } from '../continuation/grants.ts';
import type { AgentSession } from '../react/use-agent-session.ts';
import type { PayloadSource } from './payloads/payload-source.ts';
import type { StepTab } from './route.ts';
import type { AgentInfo, SessionDetail } from '../server/api.ts';
import type { StopSentence, Trace, TraceAncestor } from '../trace/trace.ts';

/** Progress of a grant, passed to every banner that shows it. */
export type GrantState =
  | { readonly kind: 'ready' }
  | { readonly kind: 'sending' }
  /** Replaces the banner: `You allowed 5 more steps · 14:11`. */
  | { readonly kind: 'granted'; readonly text: string; readonly at: string }
  /** Message such as `Already allowed in another tab.` */
  | { readonly kind: 'failed'; readonly message: string };

/** Opens a step in the trace; `executionId` null is the newest run. */
export type OpenStep = (step: number, executionId?: string | null) => void;

export interface ChatViewProps {
  /** Live state and user actions: `useAgentSession` of onward/react. */
  readonly session: AgentSession;
  readonly agent: AgentInfo | null;
  /** Null before the first response of the server. */
  readonly detail: SessionDetail | null;
  /** Trace of the newest execution: steps of calls, retries, and how long approvals took. */
  readonly trace: Trace | null;
  /** Fetches the whole of a truncated value, as JSON. */
  readonly fetchRef: (ref: string) => Promise<unknown>;
  readonly onOpenStep: OpenStep;
  readonly onGrant: (grant: Grants) => void;
  readonly onResume: () => void;
  readonly grantState: GrantState;
  /** Bytes that the images and files of one message may have. */
  readonly maxAttachmentBytes?: number;
}

export interface TraceViewProps {
  readonly trace: Trace;
  /** Selected step; null follows the newest. */
  readonly selected: number | null;
  readonly onSelect: (step: number | null) => void;
  readonly onGrant: (grant: Grants) => void;
  readonly onResume: () => void;
  /** Opens the chat with the composer in focus. */
  readonly onNewMessage: () => void;
  readonly onFork: (step: number) => void;
  /** Whether the session is an imported copy, which has no forks. Default false. */
  readonly isReadOnly?: boolean;
  readonly onEarlier: () => void;
  /** Shows the agent behind a call of a step in place of this trace. */
  readonly onOpenCall: (callId: string, step: number) => void;
  /** Shows an agent above this one. */
  readonly onOpenAbove: (ancestor: TraceAncestor) => void;
  readonly grantState: GrantState;
  /** Reads what a step sent and received; absent where nothing can be read. */
  readonly payloads?: PayloadSource;
  /** Selected tab of the inspector; absent or null: chosen by what the step did. */
  readonly tab?: StepTab | null;
  readonly onTab?: (tab: StepTab) => void;
}

export interface StopBannerProps {
  readonly stop: StopSentence;
  readonly status: Trace['status'];
  /** Reason such as `steps_limit`; null if nothing stopped it. */
  readonly reason: string | null;
  /** Deciding criterion. */
  readonly resolvedBy: string | null;
  readonly grantState: GrantState;
  readonly onGrant: (grant: Grants) => void;
  readonly onResume: () => void;
  readonly onNewMessage: () => void;
  /** Shown below the sentence: what was used of the limit. */
  readonly meter?: ReactElement | null;
  /** Content next to the reason, such as a link to the decision. */
  readonly children?: ReactElement | null;
}
