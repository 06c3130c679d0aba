import type { ReactElement } from 'react';
import type { Grants } from '../continuation/grants.ts';
import type { AgentSession } from '../react/use-agent-session.ts';
import type { AgentInfo, SessionDetail } from '../server/api.ts';
import type { StopSentence, Trace } from '../trace/trace.ts';

/** How far a grant has come, told by the shell to every banner that shows it. */
export type GrantState =
  | { readonly kind: 'ready' }
  | { readonly kind: 'sending' }
  /** Stays in the place of the banner: `Granted 5 steps · you · 14:11`. */
  | { readonly kind: 'granted'; readonly text: string; readonly at: string }
  /** Such as `Already granted in another tab.` */
  | { readonly kind: 'failed'; readonly message: string };

export interface ChatViewProps {
  /** Live state, and what the user can do: `useAgentSession` of onward/react. */
  readonly session: AgentSession;
  readonly agent: AgentInfo | null;
  /** Null before the first answer of the server. */
  readonly detail: SessionDetail | null;
  /** Of the newest execution: which call belongs to which step, retries, how long people took. */
  readonly trace: Trace | null;
  /** The whole of a value that was cut, as JSON. */
  readonly fetchRef: (ref: string) => Promise<unknown>;
  readonly onOpenStep: (step: number) => void;
  readonly onGrant: (grant: Grants) => void;
  readonly onResume: () => void;
  readonly grantState: GrantState;
}

export interface TraceViewProps {
  readonly trace: Trace;
  /** Null: follow the newest step. */
  readonly selected: number | null;
  readonly onSelect: (step: number | null) => void;
  readonly onGrant: (grant: Grants) => void;
  readonly onResume: () => void;
  /** Opens the chat with the composer in focus. */
  readonly onNewMessage: () => void;
  readonly onFork: (step: number) => void;
  readonly onEarlier: () => void;
  readonly grantState: GrantState;
}

export interface StopBannerProps {
  readonly stop: StopSentence;
  readonly status: Trace['status'];
  /** Such as `steps_limit`; null where nothing stopped it. */
  readonly reason: string | null;
  /** Who decided. */
  readonly resolvedBy: string | null;
  readonly grantState: GrantState;
  readonly onGrant: (grant: Grants) => void;
  readonly onResume: () => void;
  readonly onNewMessage: () => void;
  /** Beside the reason, such as a link to the decision. */
  readonly children?: ReactElement | null;
}
