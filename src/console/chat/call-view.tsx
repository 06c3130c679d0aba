import { useState, type ReactElement } from 'react';
import { ToolFiles } from '../../react/tool-files.tsx';
import { ValueView } from '../../react/value-view.tsx';
import { durationText } from '../../number-text.ts';
import { sentence } from '../../sentence.ts';
import { Glyph } from '../glyphs.tsx';
import { callStatusOf } from './call-status.ts';
import { argsLine, callGlyph, callTag } from './call-text.ts';
import type { CallItem } from './turn-items.ts';

/**
 * Renders one call in one line, with arguments and result behind a toggle. A failed one and one that is written start
 * open.
 */
export function CallView({ item }: { readonly item: CallItem }): ReactElement {
  const { row, fact } = item;
  const { kind, isFailure } = callStatusOf(row, fact);
  const isWriting = kind === 'writing';
  const [choice, setChoice] = useState<boolean | null>(null);
  const isOpen = choice ?? (isFailure || isWriting);
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
        <bdi className="call-args">{isWriting ? 'writing arguments…' : argsLine(row.call)}</bdi>
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
          {isWriting ? (
            <pre className="call-writing" aria-label="Arguments" tabIndex={0}>
              {row.call.args_summary}
              <span className="caret" aria-hidden="true" />
            </pre>
          ) : (
            <>
              {isFailure && <Failure item={item} />}
              {isFailure ? (
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
            </>
          )}
        </div>
      )}
    </details>
  );
}

function Failure({ item }: { readonly item: CallItem }): ReactElement {
  const { kind, reason } = callStatusOf(item.row, item.fact);
  const title = kind === 'timeout' ? 'Timed out.' : kind === 'lost' ? 'Effect unknown.' : 'Failed.';
  return (
    <p className="call-error" dir="auto">
      <b>{title}</b> {sentence(reason)}
    </p>
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
