import { Fragment, useId, useState, type ReactElement, type ReactNode } from 'react';
import type { JsonObject, JsonValue } from '../json.ts';
import type { SessionAction } from '../ui/sources/session-actions.ts';
import type { UiApproval } from '../ui/ui-state.ts';
import { visibleLines, visibleName, visibleText } from '../visible-text.ts';
import { ApprovalEditor } from './approval-editor.tsx';
import { argumentColumns } from './approval-groups.ts';
import { isPlainText, jsonText } from './argument-fields.ts';
import { DenyForm } from './deny-form.tsx';
import { Glyph } from './glyph.tsx';
import { part } from './part.ts';
import { RememberChoice } from './remember-choice.tsx';
import { useUi } from './ui-context.ts';

export interface ApprovalTableProps {
  readonly tool: string;
  /** Three or more calls of the tool. */
  readonly approvals: readonly UiApproval[];
  /** Newest action about a call; null if it was not answered. */
  readonly actionOf: (callId: string) => SessionAction | null;
  readonly isSending: boolean;
  readonly onApprove?: (callId: string, args: JsonObject) => unknown;
  readonly onApproveSome?: (callIds: readonly string[], remember: boolean) => unknown;
  readonly onDenySome?: (callIds: readonly string[], reason: string) => unknown;
  readonly canRemember: boolean;
  /** Returns the agent that made the call; null for the session's own. */
  readonly agentOf?: ((approval: UiApproval) => string | null) | undefined;
  readonly aside?: ReactNode;
  readonly onReview: () => void;
}

/** Renders several calls of one tool as rows: their arguments that differ, and one answer for the selected ones. */
export function ApprovalTable(props: ApprovalTableProps): ReactElement {
  const { tool, approvals, isSending, agentOf, onApproveSome, onDenySome, onApprove } = props;
  const { labels } = useUi();
  const titleId = useId();
  const [left, setLeft] = useState<ReadonlySet<string>>(() => new Set());
  const [editing, setEditing] = useState<string | null>(null);
  const [remembers, setRemembers] = useState(false);
  const ids = approvals.map(({ tool_call_id: id }) => id);
  const selected = ids.filter((id) => !left.has(id));
  const { columns, more, same } = argumentColumns(approvals);
  const hasAgents = approvals.some((approval) => (agentOf?.(approval) ?? null) !== null);
  const hidden = [...new Set(approvals.flatMap((one) => one.hidden ?? []))];
  const width = columns.length + 2 + (hasAgents ? 1 : 0);
  const toggle = (id: string): void =>
    setLeft((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  const approve = (callIds: readonly string[]): void => {
    if (!isSending && callIds.length > 0) void onApproveSome?.(callIds, remembers);
  };
  return (
    <section {...part('approval')} data-many aria-labelledby={titleId}>
      <header {...part('approval-head')}>
        <Glyph name="paused" />
        <h3 id={titleId} tabIndex={-1} {...part('approval-title')}>
          {labels.allowMany(approvals.length, visibleName(tool))}
        </h3>
        {props.aside !== undefined && <span {...part('approval-aside')}>{props.aside}</span>}
      </header>
      <div {...part('approval-rows')} role="group" tabIndex={0} aria-label={labels.toolArgs}>
        <table>
          <thead>
            <tr>
              <th scope="col">
                <input
                  type="checkbox"
                  aria-label={labels.selectAll}
                  checked={selected.length === ids.length}
                  ref={(box) => {
                    if (box)
                      box.indeterminate = selected.length > 0 && selected.length < ids.length;
                  }}
                  onChange={() =>
                    setLeft(selected.length === ids.length ? new Set(ids) : new Set())
                  }
                />
              </th>
              {hasAgents && <th scope="col">{labels.agentColumn}</th>}
              {columns.map((name) => (
                <th key={name} scope="col">
                  <code>{visibleName(name)}</code>
                </th>
              ))}
              <td />
            </tr>
          </thead>
          <tbody>
            {approvals.map((approval) => {
              const { tool_call_id: id } = approval;
              const args = approval.args as JsonObject; // a group has complete arguments
              const action = props.actionOf(id);
              const name = cellText(args[columns[0] ?? ''] ?? id);
              return (
                <Fragment key={`${approval.execution_id} ${id}`}>
                  <tr data-left={left.has(id) || undefined}>
                    <td>
                      <input
                        type="checkbox"
                        aria-label={labels.selectCall(name)}
                        checked={!left.has(id)}
                        onChange={() => toggle(id)}
                      />
                    </td>
                    {hasAgents && <td>{visibleText(agentOf?.(approval) ?? '')}</td>}
                    {columns.map((column) => (
                      <td key={column} dir="auto" data-label={visibleName(column)}>
                        {args[column] === undefined ? '' : cellText(args[column])}
                      </td>
                    ))}
                    <td {...part('approval-edit')}>
                      {action?.status === 'pending' || action?.status === 'done' ? (
                        labels.answering
                      ) : (
                        <button
                          type="button"
                          {...part('link')}
                          aria-label={`${labels.editShort} ${name}`}
                          aria-expanded={editing === id}
                          onClick={() => setEditing(editing === id ? null : id)}
                        >
                          {labels.editShort}
                        </button>
                      )}
                    </td>
                  </tr>
                  {(editing === id || action?.status === 'failed') && (
                    <tr {...part('approval-editing')}>
                      <td colSpan={width}>
                        {action?.status === 'failed' && (
                          <p {...part('note')} data-problem="true" role="alert">
                            {labels.failed(action.error?.message ?? '')}
                          </p>
                        )}
                        {editing === id && (
                          <ApprovalEditor
                            args={args}
                            isSending={isSending}
                            onApprove={(edited) => onApprove?.(id, edited ?? args)}
                            onCancel={() => setEditing(null)}
                          />
                        )}
                      </td>
                    </tr>
                  )}
                </Fragment>
              );
            })}
          </tbody>
        </table>
      </div>
      <p {...part('approval-same')}>
        <span>
          {same.length > 0 && (
            <>
              {labels.sameForAll(approvals.length)}{' '}
              {same.map(([name, value], i) => (
                <Fragment key={name}>
                  {i > 0 && ' · '}
                  <code>{visibleName(name)}</code> {cellText(value)}
                </Fragment>
              ))}
            </>
          )}
          {more > 0 && ` ${labels.moreArguments(more)}`}
        </span>
        <button type="button" {...part('link')} onClick={props.onReview}>
          {labels.reviewEach}
        </button>
      </p>
      {hidden.length > 0 && <p {...part('note')}>{labels.hiddenArgs(hidden)}</p>}
      <footer {...part('buttons')}>
        {onApproveSome && (
          <>
            <button
              type="button"
              {...part('button')}
              data-kind="primary"
              data-key="approve"
              aria-disabled={isSending || selected.length === 0 || undefined}
              onClick={() => approve(selected)}
            >
              <Glyph name="check" size={14} />
              {isSending ? labels.answering : labels.approveSelected(selected.length)}
            </button>
            <button
              type="button"
              {...part('button')}
              aria-disabled={isSending || undefined}
              onClick={() => approve(ids)}
            >
              {labels.approveAll(ids.length)}
            </button>
          </>
        )}
        {props.canRemember && (
          <RememberChoice tool={tool} isChosen={remembers} onChoice={setRemembers} />
        )}
      </footer>
      {onDenySome && (
        <DenyForm
          isSending={isSending}
          isBlocked={selected.length === 0}
          label={labels.denySelected(selected.length)}
          onDeny={(reason) => void onDenySome(selected, reason)}
        />
      )}
      <p {...part('approval-foot')}>{labels.answerAll(approvals.length)}</p>
    </section>
  );
}

const MAX_CELL = 200;

function cellText(value: JsonValue): string {
  const text = visibleLines(isPlainText(value) ? value : jsonText(value)).replaceAll('\n', ' ');
  return text.length <= MAX_CELL ? text : `${text.slice(0, MAX_CELL - 1)}…`;
}
