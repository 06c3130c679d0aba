import type { ReactElement } from 'react';
import { counted, durationText } from '../../number-text.ts';
import type { ArgumentEdit, PayloadText } from '../../trace/index.ts';
import type { ApprovalRecord } from '../../tools/tool-result.ts';
import { Glyph } from '../glyphs.tsx';
import { RedactedText } from './redacted-text.tsx';

const decisions: Readonly<Record<ApprovalRecord['decision'], string>> = {
  approved: 'Approved',
  edited: 'Approved with edits',
  denied: 'Denied',
};

/** Renders who answered a call, when and after how long, and what an edit changed. */
export function ApprovalView({
  approval,
  edits,
  waitedMs,
}: {
  readonly approval: ApprovalRecord;
  readonly edits: readonly ArgumentEdit[];
  readonly waitedMs: number;
}): ReactElement {
  const { decision, by, at, rememberedAt } = approval;
  return (
    <section className="approval-record" aria-label="Approval">
      <p>
        <Glyph name={decision === 'denied' ? 'cancelled' : 'shield'} size={16} />
        <span>
          <b>
            {decisions[decision]}
            {by !== null && ` by ${by}`}
          </b>{' '}
          at <time dateTime={at}>{timeText(at)}</time>
          {waitedMs > 0 && `, after ${durationText(waitedMs)}`}.
          {rememberedAt !== undefined && ' The session remembered an earlier approval.'}
          {edits.length > 0 && ` ${counted(edits.length, 'field')} edited.`}
        </span>
      </p>
      {edits.length > 0 && (
        <div className="approval-diff">
          <table>
            <thead>
              <tr>
                <th scope="col">Field</th>
                <th scope="col">Model proposed</th>
                <th scope="col">Approver allowed</th>
              </tr>
            </thead>
            <tbody>
              {edits.map(({ field, proposed, approved }) => (
                <tr key={field}>
                  <th scope="row">{field === '' ? 'all' : field}</th>
                  <td>{proposed && <Changed sign="−" payload={proposed} />}</td>
                  <td>{approved && <Changed sign="+" payload={approved} />}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** Renders one side with its sign, so that it does not depend on color. */
function Changed({
  sign,
  payload,
}: {
  readonly sign: '−' | '+';
  readonly payload: PayloadText;
}): ReactElement {
  const { text, characters } = payload;
  const Tag = sign === '+' ? 'ins' : 'del';
  return (
    <Tag>
      <span aria-hidden="true">{sign} </span>
      <RedactedText text={text.slice(0, MOST_CHARACTERS)} />
      {characters > MOST_CHARACTERS && '…'}
    </Tag>
  );
}

const MOST_CHARACTERS = 300;

const timeText = (at: string): string =>
  new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
