import { useState, type ReactElement } from 'react';
import { durationText } from '../number-text.ts';
import type { UiMessage, UiToolCall } from '../ui/ui-message.ts';
import { argsText } from './format.ts';
import { Glyph, type GlyphName } from './glyph.tsx';
import type { ToolState } from './labels.ts';
import { part } from './part.ts';
import { ToolFiles } from './tool-files.tsx';
import { useUi } from './ui-context.ts';
import { ValueView } from './value-view.tsx';

export interface ToolCallViewProps {
  readonly call: UiToolCall;
  readonly state: ToolState;
  /** The message with the result, once there is one. */
  readonly result: UiMessage | null;
}

const glyphs: Readonly<Record<ToolState, GlyphName>> = {
  writing: 'working',
  next: 'waiting',
  running: 'working',
  waiting: 'paused',
  asking: 'paused',
  done: 'done',
  error: 'failed',
  open: 'cancelled',
};

/** Renders one call in one line, with arguments and result behind a toggle. A failed one starts open. */
export function ToolCallView({ call, state, result }: ToolCallViewProps): ReactElement {
  const { labels } = useUi();
  const [choice, setChoice] = useState<boolean | null>(null);
  const isOpen = choice ?? state === 'error';
  const durationMs = result?.metadata.tool_duration_ms;
  return (
    <details
      {...part('tool-call')}
      data-state={state}
      open={isOpen}
      onToggle={(event) => {
        const { open } = event.currentTarget;
        if (open !== isOpen) setChoice(open);
      }}
    >
      <summary>
        <Glyph name="chevron" />
        <Glyph name={glyphs[state]} />
        <code {...part('tool-name')}>{call.name || labels.unnamedTool}</code>
        <span {...part('tool-args')}>{argsText(call)}</span>
        <span {...part('tool-state')}>{labels.toolStates[state]}</span>
        {durationMs !== undefined && (
          <span {...part('tool-duration')}>{durationText(durationMs)}</span>
        )}
      </summary>
      {isOpen && <ToolCallBody call={call} result={result} />}
    </details>
  );
}

function ToolCallBody({ call, result }: Omit<ToolCallViewProps, 'state'>): ReactElement {
  const { labels } = useUi();
  const { tool_error: error, tool_result: value, tool_files: files } = result?.metadata ?? {};
  const args = call.args ?? call.args_summary;
  return (
    <dl {...part('tool-body')}>
      {error !== undefined && (
        <div data-error="true">
          <dt>{labels.toolError}</dt>
          <dd {...part('tool-error')}>{error}</dd>
        </div>
      )}
      <div>
        <dt>{labels.toolArgs}</dt>
        <dd>{args === '' ? labels.none : <ValueView value={args} label={labels.toolArgs} />}</dd>
      </div>
      {value !== undefined && value !== error && (
        <div>
          <dt>{labels.toolResult}</dt>
          <dd>
            <ValueView value={value} label={labels.toolResult} />
            {files !== undefined && files.length > 0 && <ToolFiles files={files} />}
          </dd>
        </div>
      )}
    </dl>
  );
}
