import { useCallback, useLayoutEffect, useMemo, useRef, useState, type ReactElement } from 'react';
import type { JsonObject, JsonValue } from '../../json.ts';
import { Announcer } from '../../react/announcer.tsx';
import { InputList } from '../../react/input-list.tsx';
import { AgentUiProvider } from '../../react/ui-provider.tsx';
import type { InputAnswer } from '../../tools/input-request.ts';
import { useFollowEnd } from '../../react/use-follow-end.ts';
import {
  actionFor,
  type RememberedAnswer,
  type SentFile,
} from '../../ui/sources/session-actions.ts';
import type { UiApproval } from '../../ui/ui-state.ts';
import type { ChatViewProps } from '../contract.ts';
import { Glyph } from '../glyphs.tsx';
import { ApprovalCards } from './approval-cards.tsx';
import { BusyComposer } from './busy-composer.tsx';
import { blockedBy, placeholderOf } from './composer-text.ts';
import { ImportedNote } from './imported-note.tsx';
import { EarlierTurns } from './earlier-turns.tsx';
import { Markdown } from './markdown.tsx';
import { dayText, needsDay } from './times.ts';
import { TurnEnd } from './turn-end.tsx';
import { TurnView } from './turn-view.tsx';
import { isFork, type Turn } from './turns.ts';
import { useDiscarded } from './use-discarded.ts';
import { useFirstQuestion } from './use-first-question.ts';
import { useTurns } from './use-turns.ts';

const labels = { showAll: 'Load all' } as const;
const noApprovals: readonly UiApproval[] = [];
const noInputs: ChatViewProps['session']['inputs'] = [];

/** Renders the conversation of a session, live, with everything that the user can answer. */
export function ChatView(props: ChatViewProps): ReactElement {
  const fetchRef = props.fetchRef as (ref: string) => Promise<JsonValue>;
  const id = props.session.state.sessionId ?? props.detail?.id ?? null;
  const [held, setHeld] = useState({ id, round: 0 });
  // remount for each session, so that no state of another one stays
  if (id !== null && id !== held.id)
    setHeld({ id, round: held.id === null ? held.round : held.round + 1 });
  return (
    <AgentUiProvider labels={labels} fetchRef={fetchRef}>
      <Chat key={held.round} {...props} />
    </AgentUiProvider>
  );
}

function Chat(props: ChatViewProps): ReactElement {
  const { session, agent, detail, trace, onOpenStep, grantState } = props;
  const { state, actions, stop } = session;
  const imported = detail?.imported ?? null;
  // nothing of a copy can be answered
  const approvals = imported ? noApprovals : session.approvals;
  const inputs = imported ? noInputs : session.inputs;
  const { executionId } = state;
  // a session without log events is known from its record only
  const status = executionId === null ? (detail?.status ?? session.status) : session.status;
  const own = trace && (executionId ?? detail?.executionId) === trace.executionId ? trace : null;
  const { earlier, shown, active, factsOf } = useTurns(state, own);
  const discarded = useDiscarded(state.messages, status === 'processing');
  const follow = useFollowEnd(state, actions);
  const { ref, toEnd } = follow;
  const hasQuestions = approvals.length + inputs.length > 0;
  const { onScroll, isBelow } = useFirstQuestion(
    ref,
    hasQuestions ? ((approvals[0] ?? inputs[0])?.execution_id ?? '') : null,
    follow,
  );
  // content below the first approval is no news
  const isBehind = follow.isBehind && (!hasQuestions || isBelow);
  const field = useRef<HTMLTextAreaElement>(null);
  const [draft, setDraft] = useState<{ readonly text: string } | null>(null);
  const { retry, dismiss, approve, approveAll, deny, denySome, answer, send } = session;

  const lastSent = state.messages.findLast(({ metadata }) => metadata.pending)?.id;
  useLayoutEffect(() => {
    if (lastSent !== undefined) toEnd();
  }, [lastSent, toEnd]);

  const isGranted = grantState.kind === 'granted';
  useLayoutEffect(() => {
    // the button that had the focus is gone with its banner
    if (isGranted && document.activeElement === document.body)
      ref.current?.focus({ preventScroll: true });
  }, [isGranted, ref]);

  const onEdit = useCallback(
    (actionId: string, text: string): void => {
      dismiss(actionId);
      setDraft({ text });
      field.current?.focus();
    },
    [dismiss],
  );
  const onRetry = useCallback((actionId: string) => void retry(actionId), [retry]);
  const onApprove = useCallback(
    (callId: string, args?: JsonObject, options?: RememberedAnswer) =>
      void (options
        ? approve(callId, args, options)
        : args
          ? approve(callId, args)
          : approve(callId)),
    [approve],
  );
  const onApproveAll = useCallback(
    (callIds?: readonly string[], options?: RememberedAnswer) =>
      void (options ? approveAll(callIds, options) : approveAll(callIds)),
    [approveAll],
  );
  const onDenySome = useCallback(
    (callIds: readonly string[], reason: string) => void denySome(callIds, reason),
    [denySome],
  );
  const onDeny = useCallback((callId: string, reason: string) => void deny(callId, reason), [deny]);
  const onAnswer = useCallback(
    (inputId: string, given: InputAnswer) => void answer(inputId, given),
    [answer],
  );
  // a message that could not be sent stays in the conversation and is retried from there
  const onSend = useCallback(
    (text: string, files?: readonly SentFile[]) => void (files ? send(text, files) : send(text)),
    [send],
  );
  const onNewMessage = useCallback(() => field.current?.focus(), []);

  const isBusy = status === 'processing';
  // a fork that was never resumed takes a message too
  const isForked = status === 'paused' && detail?.pause?.kind === 'fork';
  const isStopping = actionFor(actions, 'stop', executionId);
  const now = useMemo(() => new Date(), [shown.length]);
  const number = (turn: Turn): number => earlier.length + shown.indexOf(turn) + 1;
  const end = (turn: Turn): ReactElement => (
    <>
      {discarded && (
        <div className="said discarded" aria-hidden="true">
          <Markdown text={discarded.text} />
        </div>
      )}
      {approvals.length > 0 && (
        <ApprovalCards
          approvals={approvals}
          pending={detail?.pendingApprovals ?? []}
          actions={actions}
          rows={turn.rows}
          onApprove={onApprove}
          onDeny={onDeny}
          onApproveAll={onApproveAll}
          onDenySome={onDenySome}
          canRemember={session.canRemember}
          since={detail?.pause?.at ?? null}
          nextFocus={ref}
        />
      )}
      {inputs.length > 0 && (
        <InputList
          inputs={inputs}
          actions={actions}
          onAnswer={onAnswer}
          onDismiss={dismiss}
          nextFocus={ref}
        />
      )}
      {!isBusy && status !== 'idle' && !hasQuestions && (
        <TurnEnd {...props} {...{ status, executionId, stop, onNewMessage }} trace={own} />
      )}
    </>
  );
  const draw = (turn: Turn, before: Turn | undefined): ReactElement => {
    const at = startOf(turn);
    const isActive = turn === active;
    const isLast = before !== undefined && turn.user?.message.metadata.pending === true;
    return (
      <TurnView
        key={turn.id}
        turn={turn}
        number={earlier.includes(turn) ? earlier.indexOf(turn) + 1 : number(turn)}
        facts={factsOf(turn)}
        day={
          at !== '' && needsDay(before ? startOf(before) : null, at)
            ? dayText(new Date(at), now)
            : null
        }
        delivery={turn.user ? actionFor(actions, 'send', turn.id) : null}
        isLive={isActive && isBusy}
        isQueued={isLast && !isActive && isBusy}
        isEndBelow={isActive && !isBusy}
        onRetry={onRetry}
        onEdit={onEdit}
        onOpenStep={onOpenStep}
      >
        {isActive ? end(turn) : null}
      </TurnView>
    );
  };
  return (
    <section className="chat" aria-label="Chat" data-status={status}>
      <div
        ref={ref}
        className="chat-log"
        role="log"
        aria-live="off"
        aria-label="Conversation"
        tabIndex={0}
        onScroll={onScroll}
      >
        <div className="chat-column">
          {earlier.length > 0 && (
            <EarlierTurns turns={earlier} isInherited={shown[0]?.rows.some(isFork) === true}>
              {(turns) => turns.map((turn, i) => draw(turn, turns[i - 1]))}
            </EarlierTurns>
          )}
          {shown.map((turn, i) => draw(turn, shown[i - 1]))}
        </div>
      </div>
      <div className="chat-foot">
        {isBehind && (
          <button type="button" className="new-below" onClick={toEnd}>
            <Glyph name="down" size={12} />
            New below
          </button>
        )}
        {isStopping?.status === 'failed' && (
          <p className="chat-problem" role="alert">
            <Glyph name="failed" size={14} />
            <span>
              <b>Not stopped.</b> {isStopping.error?.message}
            </span>
          </p>
        )}
        {imported ? (
          <ImportedNote imported={imported} />
        ) : (
          <BusyComposer
            onSend={onSend}
            attachments={
              session.canAttach
                ? { maxBytes: props.maxAttachmentBytes ?? 2_500_000, maxCount: 10 }
                : undefined
            }
            draft={draft}
            blockedBy={blockedBy(isForked ? 'idle' : status, approvals.length, inputs.length)}
            placeholder={placeholderOf(status, agent)}
            isBusy={isBusy}
            isLocked
            {...(isBusy && session.can.stop && { onStop: () => void session.stopRun() })}
            isStopping={isStopping?.status === 'pending' || isStopping?.status === 'done'}
            fieldRef={field}
            trace={own}
            stepCount={state.stepCount}
            maxSteps={agent?.limits['StepsLimit'] ?? null}
            since={active?.user?.message.timestamp ?? null}
          />
        )}
      </div>
      {/* the page announces approvals and the end: announce only messages here */}
      <Announcer messages={state.messages} status={status} approvals={noApprovals} stop={null} />
    </section>
  );
}

const startOf = ({ user, rows }: Turn): string =>
  user?.message.timestamp ?? rows[0]?.message.timestamp ?? '';
