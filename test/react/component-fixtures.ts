import type { Envelope } from '../../src/broadcasting/envelope.ts';
import type { SessionAction } from '../../src/ui/sources/session-actions.ts';
import { newUiState } from '../../src/ui/reducer-state.ts';
import { reduceEnvelope } from '../../src/ui/reduce-envelope.ts';
import type { UiMessage, UiToolCall } from '../../src/ui/ui-message.ts';
import type { UiApproval, UiState } from '../../src/ui/ui-state.ts';

export const stateAfter = (...envelopes: readonly Envelope[]): UiState =>
  envelopes.reduce(reduceEnvelope, newUiState());
export const approval: UiApproval = {
  tool: 'delete_lead',
  tool_call_id: 'call_1',
  args: { id: 'lead_7', notify: true },
  args_summary: '{"id":"lead_7","notify":true}',
  execution_id: 'exe_1',
  agent_id: 'agt_1',
};
export const failed = (about: string, kind: SessionAction['kind'] = 'approve'): SessionAction => ({
  id: 'act_1',
  kind,
  about,
  status: 'failed',
  error: new Error('the server answered 503'),
});
export const call: UiToolCall = {
  id: 'call_1',
  name: 'search',
  args: { q: 'Nordlicht' },
  args_summary: '{"q":"Nordlicht"}',
};
export const result = (metadata: UiMessage['metadata']): UiMessage => ({
  id: 'res_1',
  role: 'tool',
  content: '',
  timestamp: '',
  metadata: { tool_call_id: 'call_1', tool_name: 'search', ...metadata },
});
