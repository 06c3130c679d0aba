import type { Envelope } from 'onward/broadcasting';
import { newUiState, reduceEnvelope, type UiState } from 'onward/ui';

export const reduceAll = (envelopes: readonly Envelope[], state: UiState = newUiState()): UiState =>
  envelopes.reduce(reduceEnvelope, state);

export const show = ({ messages }: UiState): string[] =>
  messages.map(({ role, content, metadata: { tool_calls: calls } }) =>
    `${role}: ${content}${calls ? ` [${calls.map(({ id, args }) => `${id} ${JSON.stringify(args)}`).join(', ')}]` : ''}`.trim(),
  );

/** Returns the rows without status lines. */
export const said = (state: UiState): string[] =>
  show(state).filter((line) => !line.startsWith('status'));
