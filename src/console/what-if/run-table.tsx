import type { ReactElement } from 'react';
import { durationText, moneyText } from '../../number-text.ts';
import { statusGlyphs } from '../../react/glyph.tsx';
import type { ReplaySummary } from '../../server/replay-view.ts';
import { Glyph } from '../glyphs.tsx';
import { traceHref } from '../route.ts';
import { statusText } from '../status-text.ts';
import { changeText } from './what-if-text.ts';

/** Renders one row for each run: its steps, how it ended, and how it would end. */
export function RunTable({
  replays,
}: {
  readonly replays: readonly ReplaySummary[];
}): ReactElement {
  return (
    <table className="what-if-table">
      <thead>
        <tr>
          <th scope="col">Run</th>
          <th scope="col">Recorded steps</th>
          <th scope="col">Recorded</th>
          <th scope="col">With these limits</th>
          <th scope="col" className="number">
            Saved
          </th>
        </tr>
      </thead>
      <tbody>
        {replays.map((replay) => (
          <Row key={`${replay.sessionId} ${replay.executionId}`} replay={replay} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ replay }: { readonly replay: ReplaySummary }): ReactElement {
  const { sessionId, executionId, title, status, stopReason, change, saved, incomplete } = replay;
  const { lead, why } = changeText(replay);
  return (
    <tr data-change={change}>
      <td>
        <a href={traceHref(sessionId, replay.firstDifference, executionId)} dir="auto">
          {title ?? 'Untitled'}
        </a>
        {incomplete.length > 0 && (
          <em className="what-if-tag" title={incomplete.map(({ text }) => text).join('\n')}>
            not exact
          </em>
        )}
      </td>
      <td>
        <Strip replay={replay} />
      </td>
      <td className="what-if-status">
        <span>
          <Glyph name={statusGlyphs[status]} size={14} />
          {statusText({ status, stopReason, approvals: 0 })}
        </span>
      </td>
      <td>
        <span className={change === 'same' ? 'muted' : 'what-if-lead'}>{lead}</span>
        {change === 'cut_short' && <em className="what-if-tag what-if-lost">answer lost</em>}
        {why !== '' && <small className="muted">{why}</small>}
      </td>
      <td className="number">
        {saved.steps === 0 ? (
          <span className="muted">–</span>
        ) : (
          <>
            {saved.cost === null || saved.cost === 0
              ? `${saved.steps} steps`
              : moneyText(saved.cost)}
            <small className="muted">{durationText(saved.seconds * 1000)}</small>
          </>
        )}
      </td>
    </tr>
  );
}

/** Most cells of a strip; a longer run has fewer cells than steps. */
const MOST_CELLS = 48;

/** Renders the steps of a run as cells: a line where it would stop, hollow cells behind it. */
function Strip({ replay }: { readonly replay: ReplaySummary }): ReactElement {
  const { stepCount, used, stopsAt, change } = replay;
  const isCut = change === 'earlier' || change === 'cut_short';
  const all = Math.max(stepCount, used.steps);
  const scale = Math.min(1, MOST_CELLS / Math.max(1, all));
  const cells = Math.ceil(all * scale);
  const kept = isCut ? Math.min(cells, Math.ceil((stopsAt ?? all) * scale)) : cells;
  const label = `${all} recorded steps${isCut ? `, would stop after ${stopsAt}` : ''}${change === 'further' ? ', would keep going' : ''}`;
  return (
    <span className="what-if-strip" role="img" aria-label={label}>
      {Array.from({ length: cells }, (_, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- cells have no other identity
        <i key={at} data-kept={at < kept} data-cut={isCut && at === kept - 1} />
      ))}
      {change === 'further' && <s aria-hidden="true">→</s>}
      {scale < 1 && <small className="muted">{all}</small>}
    </span>
  );
}
