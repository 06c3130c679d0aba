import type { Grants } from '../../continuation/grants.ts';
import { messageId } from '../../ids.ts';
import { isRecord, type JsonObject } from '../../json.ts';
import type { InputAnswer } from '../../tools/input-request.ts';
import { acceptUserMessage, withoutUserMessage, withUserMessage } from '../sent-messages.ts';
import type { UiApproval } from '../ui-state.ts';
import type { SessionViewStore } from './session-view-store.ts';
import { toError } from './source-error.ts';

/** Identifies an answered call: what `runtime.approve` and `runtime.deny` accept in addition to its id. */
export interface ShownCall {
  readonly executionId: string;
  readonly argsHash?: string;
}

/** Asks the session to approve later calls of the tool too. */
export interface RememberedAnswer {
  readonly remember?: 'session';
}

/** A visible call that is answered together with others. */
export interface AnsweredCall extends ShownCall {
  readonly callId: string;
}

/** An image or a file that the user attached. */
export interface SentFile {
  /** `image` for PNG, JPEG, GIF and WebP. */
  readonly type: 'image' | 'file';
  /** Base64. */
  readonly data: string;
  readonly media_type: string;
  readonly filename: string;
  readonly bytes: number;
}

/** How the UI calls your server. Absent actions are not offered; a rejected promise is shown. */
export interface AgentSessionActions {
  /**
   * Sends a message. `id` stays the same when the user retries, so that a server can detect a repeat. `files` are its
   * images and files; absent without any. May resolve to `{ executionId }` of the run that answers.
   */
  readonly send?: (
    text: string,
    options: { readonly id: string; readonly files?: readonly SentFile[] },
  ) => Promise<unknown>;
  /** Whether `send` passes `files` to the server. Default: false. */
  readonly attaches?: boolean;
  /**
   * Approves a call. `shown` identifies the visible call: pass it to your server, which refuses an answer to another
   * one.
   */
  readonly approve?: (
    callId: string,
    args?: JsonObject,
    shown?: ShownCall & RememberedAnswer,
  ) => Promise<unknown>;
  /** Whether `approve` passes `remember` to the server, so that the user may ask for it. Default: false. */
  readonly remembers?: boolean;
  readonly deny?: (callId: string, reason: string, shown?: ShownCall) => Promise<unknown>;
  /** Approves the visible calls, and no other. */
  readonly approveAll?: (calls: readonly AnsweredCall[]) => Promise<unknown>;
  /** Answers a question of a tool. `shown` names the execution that asked. */
  readonly answer?: (
    inputId: string,
    answer: InputAnswer,
    shown?: Pick<ShownCall, 'executionId'>,
  ) => Promise<unknown>;
  readonly stop?: () => Promise<unknown>;
  /** Continues with a grant, or after a pause without one. */
  readonly resume?: (grant?: Grants) => Promise<unknown>;
  /** Continues a parked session. */
  readonly retry?: () => Promise<unknown>;
}

export type ActionKind = Exclude<keyof AgentSessionActions, 'remembers' | 'attaches'>;

/** A user action, until the view shows its effect. */
export interface SessionAction {
  readonly id: string;
  readonly kind: ActionKind;
  /** Id of the call, message, stop or execution that it is about. */
  readonly about: string | null;
  readonly status: 'pending' | 'done' | 'failed';
  readonly error: Error | null;
}

/** The user's actions in a session. Each resolves to whether the server accepted it, and never rejects. */
export interface SessionController {
  send(text: string, files?: readonly SentFile[]): Promise<boolean>;
  approve(callId: string, args?: JsonObject, options?: RememberedAnswer): Promise<boolean>;
  deny(callId: string, reason: string): Promise<boolean>;
  /** Denies several visible calls with one reason. */
  denySome(callIds: readonly string[], reason: string): Promise<boolean>;
  /** Approves all visible calls, or these of them. With `remember`, later calls of their tools too. */
  approveAll(callIds?: readonly string[], options?: RememberedAnswer): Promise<boolean>;
  answer(inputId: string, answer: InputAnswer): Promise<boolean>;
  stopRun(): Promise<boolean>;
  resume(grant?: Grants): Promise<boolean>;
  /** Continues a parked session. */
  retrySession(): Promise<boolean>;
  /** Tries a failed action again. */
  retry(actionId: string): Promise<boolean>;
  /** Removes a failed action, and a message that was not sent. */
  dismiss(actionId: string): void;
}

/** Maximum finished actions to keep: only the newest can still matter. */
const maxKept = 50;

/** Runs user actions and shows their progress and failure. */
export function sessionController(
  store: SessionViewStore,
  actions: () => AgentSessionActions,
): SessionController {
  const work = new Map<string, () => Promise<unknown>>();

  const put = (action: SessionAction): void => {
    const others = store.view().actions.filter(({ id }) => id !== action.id);
    store.note([...others.slice(-maxKept), action]);
  };
  const drop = (actionId: string): void => {
    work.delete(actionId);
    store.note(store.view().actions.filter(({ id }) => id !== actionId));
  };

  async function run(action: SessionAction, act: () => Promise<unknown>): Promise<boolean> {
    const twin = actionFor(store.view().actions, action.kind, action.about);
    // a second click on the same button
    if (twin?.status === 'pending') return false;
    if (twin) drop(twin.id);
    work.set(action.id, act);
    put({ ...action, status: 'pending', error: null });
    try {
      await act();
    } catch (thrown) {
      put({ ...action, status: 'failed', error: toError(thrown) });
      return false;
    }
    // a sent message is visible; later envelopes answer the others
    if (action.kind === 'send') drop(action.id);
    else put({ ...action, status: 'done', error: null });
    work.delete(action.id);
    return true;
  }

  const begin = (
    kind: ActionKind,
    about: string | null,
    act: (() => Promise<unknown>) | undefined,
    id: string = messageId(),
  ): Promise<boolean> =>
    act ? run({ id, kind, about, status: 'pending', error: null }, act) : Promise.resolve(false);

  const denyCall = (callId: string, reason: string): Promise<boolean> => {
    const { deny } = actions();
    const shown = shownCall(store, callId);
    return begin('deny', callId, deny && (() => deny(callId, reason, ...shown)));
  };

  return {
    send(text, files = []) {
      const { send } = actions();
      if (!send || (text.trim() === '' && files.length === 0)) return Promise.resolve(false);
      const id = messageId();
      store.update((state) => withUserMessage(state, text, id, files));
      const act = async (): Promise<void> => {
        const options = files.length === 0 ? { id } : { id, files };
        const executionId = executionOf(await send(text, options));
        if (executionId !== null)
          store.update((state) => acceptUserMessage(state, id, executionId));
      };
      return begin('send', id, act, id);
    },
    approve(callId, args, { remember } = {}) {
      const { approve } = actions();
      const [shown] = shownCall(store, callId);
      const third = shown && { ...shown, ...(remember && { remember }) };
      const said: Parameters<NonNullable<typeof approve>> = third
        ? [callId, args, third]
        : args === undefined
          ? [callId]
          : [callId, args];
      return begin('approve', callId, approve && (() => approve(...said)));
    },
    deny: denyCall,
    async denySome(callIds, reason) {
      let isAccepted = callIds.length > 0;
      // one after the other: each answer is stored before the next
      for (const callId of callIds) isAccepted = (await denyCall(callId, reason)) && isAccepted;
      return isAccepted;
    },
    async approveAll(callIds, { remember } = {}) {
      const { approveAll, approve } = actions();
      const { approvals, executionId } = store.view().state;
      const asked = approvals.filter(
        ({ tool_call_id: id }) => callIds === undefined || callIds.includes(id),
      );
      // one answer for each tool asks to remember it
      const first = new Map(
        asked.map((approval) => [approval.tool, approval] as const).toReversed(),
      );
      const remembered = remember ? [...first.values()] : [];
      const rest = asked.filter((approval) => !remembered.includes(approval)).map(answeredCall);
      const canAnswer = approveAll && (remembered.length === 0 || approve) && asked.length > 0;
      return begin(
        'approveAll',
        executionId,
        canAnswer
          ? async () => {
              for (const { callId, ...shown } of remembered.map(answeredCall))
                await approve?.(callId, undefined, { ...shown, remember: 'session' });
              if (rest.length > 0) await approveAll(rest);
            }
          : undefined,
      );
    },
    answer(inputId, given) {
      const { answer } = actions();
      const asked = (store.view().state.inputs ?? []).find((one) => one.input_id === inputId);
      const shown = asked ? [{ executionId: asked.execution_id }] : [];
      return begin('answer', inputId, answer && (() => answer(inputId, given, ...shown)));
    },
    stopRun() {
      const { stop } = actions();
      return begin('stop', store.view().state.executionId, stop && (() => stop()));
    },
    resume(grant) {
      const { resume } = actions();
      return begin(
        'resume',
        stopShown(store),
        resume && (() => (grant === undefined ? resume() : resume(grant))),
      );
    },
    retrySession() {
      const { retry } = actions();
      return begin('retry', stopShown(store), retry && (() => retry()));
    },
    retry(actionId) {
      const failed = store.view().actions.find(({ id }) => id === actionId);
      const act = work.get(actionId);
      return failed?.status === 'failed' && act ? run(failed, act) : Promise.resolve(false);
    },
    dismiss(actionId) {
      const action = store.view().actions.find(({ id }) => id === actionId);
      if (action?.status !== 'failed') return;
      drop(actionId);
      if (action.kind === 'send') store.update((state) => withoutUserMessage(state, actionId));
    },
  };
}

const stopShown = (store: SessionViewStore): string | null =>
  store.view().state.stop?.timestamp ?? null;

/** As it was shown when the button was pressed: a later try answers the same call. */
function shownCall(store: SessionViewStore, callId: string): readonly [] | readonly [ShownCall] {
  const { approvals } = store.view().state;
  const approval = approvals.find(({ tool_call_id }) => tool_call_id === callId);
  if (!approval) return [];
  const { callId: _, ...shown } = answeredCall(approval);
  return [shown];
}

const answeredCall = ({
  tool_call_id: callId,
  execution_id: executionId,
  args_hash: argsHash,
}: UiApproval): AnsweredCall => ({
  callId,
  executionId,
  ...(argsHash !== undefined && { argsHash }),
});

/** Returns the execution id of a response, so that the server's message replaces the pending one. */
const executionOf = (answer: unknown): string | null => {
  const id = isRecord(answer) ? (answer['executionId'] ?? answer['execution_id']) : null;
  return typeof id === 'string' ? id : null;
};

/** Finds the newest action of a kind for a target. */
export const actionFor = (
  actions: readonly SessionAction[],
  kind: ActionKind,
  about: string | null,
): SessionAction | null =>
  actions.findLast((action) => action.kind === kind && action.about === about) ?? null;
