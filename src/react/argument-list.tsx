import type { ReactElement } from 'react';
import { isHiddenAt } from '../events/hidden-args.ts';
import { isRecord, type JsonObject } from '../json.ts';
import { isTruncated } from '../ui/message-list.ts';
import type { UiApproval } from '../ui/ui-state.ts';
import { visibleLines, visibleName } from '../visible-text.ts';
import { isLong, isPlainText, jsonText } from './argument-fields.ts';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';
import { ValueView } from './value-view.tsx';

/** Whether all arguments are present as separate values. */
export const isComplete = (args: UiApproval['args']): args is JsonObject =>
  isRecord(args) && !isTruncated(args);

/** Renders the arguments of a call as a list of names and values; hidden parts are marked. */
export function ArgumentList({ approval }: { readonly approval: UiApproval }): ReactElement {
  const { labels } = useUi();
  const { args, hidden = [] } = approval;
  const entries = isComplete(args) ? Object.entries(args) : null;
  return (
    <>
      {entries === null ? (
        <ValueView value={args} label={labels.toolArgs} />
      ) : entries.length === 0 ? (
        <p {...part('note')}>{`${labels.toolArgs}: ${labels.none}`}</p>
      ) : (
        <dl {...part('fields')}>
          {entries.map(([name, value]) => (
            <div
              key={name}
              data-long={isLong(value) || undefined}
              data-hidden={isHiddenAt(hidden, name) || undefined}
            >
              <dt>{visibleName(name)}</dt>
              {isPlainText(value) ? (
                <dd>{visibleLines(value)}</dd>
              ) : (
                <dd data-json>{visibleLines(jsonText(value))}</dd>
              )}
            </div>
          ))}
        </dl>
      )}
      {hidden.length > 0 && (
        <p {...part('note')} data-hidden="true">
          {labels.hiddenArgs(hidden)}
        </p>
      )}
    </>
  );
}
