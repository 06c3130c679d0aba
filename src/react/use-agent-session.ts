import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { GrantAllowance } from '../continuation/grant-allowance.ts';
import type { Connection, EnvelopeSource } from '../ui/sources/envelope-source.ts';
import {
  sessionController,
  type ActionKind,
  type AgentSessionActions,
  type SessionAction,
  type SessionController,
} from '../ui/sources/session-actions.ts';
import {
  sessionViewStore,
  type SessionViewStore,
  type SessionViewStoreOptions,
} from '../ui/sources/session-view-store.ts';
import type { UiMessage } from '../ui/ui-message.ts';
import type { UiApproval, UiInput, UiState, UiStop } from '../ui/ui-state.ts';
import { useAllowance } from './use-allowance.ts';

export interface UseAgentSessionOptions extends SessionViewStoreOptions {
  /**
   * Source of envelopes; null while there is no session. A source with the same key may be created again with every
   * render.
   */
  readonly source: EnvelopeSource | null;
  /** How the user's actions reach your server. */
  readonly actions?: AgentSessionActions;
  /** Reads what the user may still grant: the `allowance` of the session. Absent: no cap. */
  readonly allowance?: () => Promise<GrantAllowance | null>;
}

export interface AgentSession extends SessionController {
  readonly state: UiState;
  readonly messages: readonly UiMessage[];
  readonly status: BroadcastStatus;
  readonly approvals: readonly UiApproval[];
  /** Questions of tools that wait for the user. */
  readonly inputs: readonly UiInput[];
  /** Why it stopped or paused; null while it works. */
  readonly stop: UiStop | null;
  readonly connection: Connection;
  /** Why the connection does not work. */
  readonly error: Error | null;
  /** User actions: pending, failed, or done and not yet visible. */
  readonly actions: readonly SessionAction[];
  readonly can: Readonly<Record<ActionKind, boolean>>;
  /** Whether an approval can be remembered for the session. */
  readonly canRemember: boolean;
  /** Whether messages can have images and files. */
  readonly canAttach: boolean;
  /** What the user may still grant; undefined while it is read, null if it is not known. */
  readonly allowance: GrantAllowance | null | undefined;
  /** Reads the server's conversation. */
  readonly refresh: () => void;
}

interface Held {
  readonly key: unknown;
  readonly store: SessionViewStore;
  readonly controller: SessionController;
}

const noActions: AgentSessionActions = {};
const noInputs: readonly UiInput[] = [];

/** Connects a session while the component is mounted. All components with the same source share it. */
export function useAgentSession(options: UseAgentSessionOptions): AgentSession {
  const { source, actions = noActions } = options;
  const key = source?.key ?? source;
  const current = useRef(actions);
  const hold = (): Held => {
    const store = sessionViewStore(source, options);
    return { key, store, controller: sessionController(store, () => current.current) };
  };
  const [kept, setKept] = useState(hold);
  let held = kept;
  if (held.key !== key) setKept((held = hold()));
  const { store, controller } = held;
  useEffect(() => {
    current.current = actions;
    if (source) store.renew(source);
  });
  const view = useSyncExternalStore(store.subscribe, store.view, store.view);
  const { send, approve, approveAll, deny, answer, stop, resume, retry, remembers, attaches } =
    actions;
  const allowance = useAllowance(view.state.stop, options.allowance);
  return useMemo(() => {
    const { state } = view;
    return {
      ...controller,
      state,
      messages: state.messages,
      status: state.status,
      approvals: state.approvals,
      inputs: state.inputs ?? noInputs,
      stop: state.stop,
      connection: view.connection,
      error: view.error,
      actions: view.actions,
      can: {
        send: !!send,
        approve: !!approve,
        approveAll: !!approveAll,
        answer: !!answer,
        deny: !!deny,
        stop: !!stop,
        resume: !!resume,
        retry: !!retry,
      },
      canRemember: remembers === true,
      canAttach: attaches === true,
      allowance,
      refresh: store.refresh,
    };
  }, [
    view,
    controller,
    store,
    send,
    approve,
    approveAll,
    deny,
    answer,
    stop,
    resume,
    retry,
    remembers,
    attaches,
    allowance,
  ]);
}
