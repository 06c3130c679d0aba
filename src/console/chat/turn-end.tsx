import type { ReactElement } from 'react';
import type { BroadcastStatus } from '../../agent/agent-status.ts';
import type { SessionDetail } from '../../server/api.ts';
import type { StopSentence, Trace } from '../../trace/trace.ts';
import type { UiStop } from '../../ui/ui-state.ts';
import type { ChatViewProps } from '../contract.ts';
import { Glyph } from '../glyphs.tsx';
import { StopBanner } from '../stop-banner.tsx';
import { durationText, moneyText } from '../../number-text.ts';

export interface TurnEndProps extends Pick<
  ChatViewProps,
  'detail' | 'trace' | 'onOpenStep' | 'onGrant' | 'onResume' | 'grantState'
> {
  readonly status: BroadcastStatus;
  readonly executionId: string | null;
  readonly stop: UiStop | null;
  readonly onNewMessage: () => void;
}

/** Renders the end of a turn: why it stopped and how to continue. A completed turn is one line. */
export function TurnEnd(props: TurnEndProps): ReactElement | null {
  const { status, trace, stop } = props;
  const sentence = sentenceOf(props);
  const step = trace?.steps.at(-1)?.number ?? null;
  const link =
    step === null ? null : (
      <button type="button" className="chat-link" onClick={() => props.onOpenStep(step)}>
        {`View decision`}
      </button>
    );
  if (status === 'completed') return <Completed {...props} link={link} />;
  const shown = sentence ?? (stop ? liveSentence(stop) : null);
  if (!shown) return null;
  return (
    <StopBanner
      stop={shown}
      status={status}
      reason={null}
      resolvedBy={null}
      grantState={props.grantState}
      onGrant={props.onGrant}
      onResume={props.onResume}
      onNewMessage={props.onNewMessage}
    >
      {link}
    </StopBanner>
  );
}

/** Returns the sentence of the record for this run and status; an older record does not match. */
function sentenceOf({ trace, detail, status, executionId }: TurnEndProps): StopSentence | null {
  const fits = (record: Pick<Trace | SessionDetail, 'executionId' | 'status'> | null): boolean =>
    record?.status === status && (executionId === null || record.executionId === executionId);
  if (fits(trace) && trace?.stop) return trace.stop;
  return fits(detail) ? (detail?.stop ?? null) : null;
}

/** Returns the sentence of the live stream: the record with capped grants may arrive later. */
function liveSentence({ stop_message, explanation }: UiStop): StopSentence {
  const { headline, detail } = explanation ?? { headline: stop_message, detail: '' };
  return {
    lead: '',
    because: '',
    goOnIf: null,
    note: null,
    action: null,
    explanation: { headline, detail, decidedBy: null, stopReason: null, actions: [] },
  };
}

function Completed(props: TurnEndProps & { readonly link: ReactElement | null }): ReactElement {
  const { trace, stop, link } = props;
  const steps = trace?.totals.steps.used ?? stop?.step_count ?? null;
  const parts = [
    steps === null ? 'Completed' : `Completed in ${steps === 1 ? '1 step' : `${steps} steps`}`,
    ...(trace ? [durationText(trace.totals.seconds.used * 1000)] : []),
    ...(trace && trace.totals.cost.used !== null ? [moneyText(trace.totals.cost.used)] : []),
  ];
  return (
    <p className="completed">
      <Glyph name="done" size={14} />
      <span>{parts.join(' · ')}</span>
      {link}
    </p>
  );
}
