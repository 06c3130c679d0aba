import type { ReactElement } from 'react';
import type { UiMessage, UiToolCall } from '../ui/ui-message.ts';
import type { ToolState } from './labels.ts';
import { part } from './part.ts';
import { ToolCallView } from './tool-call-view.tsx';
import { useUi } from './ui-context.ts';

/** A call with its result. */
export interface ToolCallItem {
  readonly call: UiToolCall;
  readonly result: UiMessage | null;
  readonly state: ToolState;
}

export function ToolCalls({ calls }: { readonly calls: readonly ToolCallItem[] }): ReactElement {
  const { components } = useUi();
  const ToolCall = components.ToolCall ?? ToolCallView;
  return (
    <div {...part('tool-calls')}>
      {calls.map(({ call, result, state }) => (
        <ToolCall key={call.id} call={call} result={result} state={state} />
      ))}
    </div>
  );
}
