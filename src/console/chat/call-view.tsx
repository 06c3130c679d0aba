import { useState, type ReactElement } from 'react';
import { ToolFiles } from '../../react/tool-files.tsx';
import { ValueView } from '../../react/value-view.tsx';
import { sameJson } from '../../json.ts';
import { Glyph } from '../glyphs.tsx';
import { callStatusOf } from './call-status.ts';
import { argsLine, callGlyph, callTag, triesOf, tryName, valueTag } from './call-text.ts';
import { FailureLine } from './failure-line.tsx';
import { durationText } from '../../number-text.ts';
import type { CallItem, Try } from './turn-items.ts';

/**
 * Renders one call in one line with its attempts, with arguments and result behind a toggle. A failed one starts
 * open.
 */
export function CallView({ item }: { readonly item: CallItem }): ReactElement {
  const { row, fact } = item;
  const { kind, isFailure } = callStatusOf(row, fact);
  const hasFailed = isFailure || triesOf(item) > 1;
  const [choice, setChoice] = useState<boolean | null>(null);
  const isOpen = choice ?? hasFailed;
  const tag = callTag(item);
  const durationMs = row.result?.metadata.tool_duration_ms ?? fact?.bar.durationMs ?? 0;
  const isTimed = durationMs > 0 && (kind === 'done' || isFailure || kind === 'aborted');
  return (
    <details
      className="call"
      data-kind={kind}
      open={isOpen}
      onToggle={(event) => {
        const { open } = event.currentTarget;
        if (open !== isOpen) setChoice(open);
      }}
    >
      <summary>
        <Glyph name="chevron" size={12} />
        <Glyph name={callGlyph[kind]} size={14} />
        <code className="call-name">{row.call.name || 'tool call'}</code>
        <span className="call-args">{argsLine(row.call)}</span>
        <span
          className="call-tag"
          data-tone={tag.tone}
          data-long={tag.text.length > 30 || undefined}
        >
          {tag.text}
        </span>
        <span className="call-time">{isTimed ? durationText(durationMs) : ''}</span>
      </summary>
      {isOpen && (
        <div className="call-body">
          {triesOf(item) > 1 || item.tries.some((one) => one.kind === 'model') ? (
            <Tries item={item} />
          ) : (
            isFailure && <Failure item={item} />
          )}
          {isFailure && fact?.policyText && (
            <p className="call-policy">
              <Glyph name="retry" size={14} />
              {fact.policyText}
            </p>
          )}
          {hasFailed ? (
            <details className="call-more">
              <summary>
                <Glyph name="chevron" size={12} />
                Arguments and result
              </summary>
              <Values item={item} />
            </details>
          ) : (
            <Values item={item} />
          )}
        </div>
      )}
    </details>
  );
}

function Failure({ item }: { readonly item: CallItem }): ReactElement {
  const { kind, reason } = callStatusOf(item.row, item.fact);
  return (
    <p className="call-error">
      <b>{kind === 'timeout' ? 'timeout' : kind === 'lost' ? 'effect unknown' : 'failed'}</b>
      {` — ${reason}`}
    </p>
  );
}

function Tries({ item }: { readonly item: CallItem }): ReactElement {
  let count = 0;
  let before: Extract<Try, { kind: 'call' }> | null = null;
  return (
    <ol className="tries">
      {item.tries.map((one) => {
        if (one.kind === 'model')
          return <FailureLine key={`model ${one.failure.step}`} failure={one.failure} />;
        count += 1;
        const isChanged = before !== null && !sameJson(before.row.call.args, one.row.call.args);
        before = one;
        return <TryLine key={one.row.call.id} number={count} one={one} isChanged={isChanged} />;
      })}
    </ol>
  );
}

interface TryLineProps {
  readonly number: number;
  readonly one: Extract<Try, { kind: 'call' }>;
  readonly isChanged: boolean;
}

function TryLine({ number, one, isChanged }: TryLineProps): ReactElement {
  const { row, fact } = one;
  const { kind, reason, isFailure } = callStatusOf(row, fact);
  const value = row.result?.metadata.tool_result;
  const durationMs = row.result?.metadata.tool_duration_ms ?? 0;
  const words = isFailure
    ? reason
    : kind === 'done' && value !== undefined
      ? valueTag(value)
      : kind;
  return (
    <li data-kind={isFailure ? 'failed' : kind}>
      <Glyph name={callGlyph[kind]} size={14} />
      <span>
        <b>{tryName(number)}</b>
        {isFailure && <b className="bad"> {kind === 'timeout' ? 'timeout' : 'failed'}</b>}
        {isChanged && ' with other arguments'}
        {words !== '' && ` — ${words}`}
      </span>
      <span className="call-time">{durationMs > 0 ? durationText(durationMs) : ''}</span>
    </li>
  );
}

function Values({ item }: { readonly item: CallItem }): ReactElement {
  const { call, result } = item.row;
  const args = call.args ?? call.args_summary;
  const { tool_result: value, tool_files: files = [] } = result?.metadata ?? {};
  return (
    <dl className="call-values">
      <div>
        <dt>Arguments</dt>
        <dd>{args === '' ? 'none' : <ValueView value={args} label="Arguments" />}</dd>
      </div>
      {value !== undefined && (
        <div>
          <dt>Result</dt>
          <dd>
            <ValueView value={value} label="Result" />
            {files.length > 0 && <ToolFiles files={files} />}
          </dd>
        </div>
      )}
    </dl>
  );
}
