import type { ChatViewProps } from '../../src/console/contract.ts';
import {
  bar,
  chatProps,
  detailOf,
  sessionOf,
  stateAfter,
  step,
  traceOfSteps,
  wireAt,
} from './chat-fixtures.ts';

export function approval(more: Partial<ChatViewProps> = {}, count: number = 1): ChatViewProps {
  const wire = wireAt('2026-01-16T14:16:00.000');
  const ids = ['lead_1874', 'lead_1875', 'lead_1876'].slice(0, count);
  const args = (id: string) => ({
    id,
    reason: 'inactive since 2024-11-02',
    notify_owner: true,
    ...(count > 1 && { retention: { days: 30, archive: ['notes', 'mails'] }, weight: 2 }),
  });
  const state = stateAfter([
    wire.started(),
    wire.user('Clean up the Alpine program: anything without activity since 2024 can go.'),
    wire.step(1),
    wire.tool('search_entities', 'c1', {
      type: 'lead',
      program: 'Alpine',
      idle_since: '2024-12-31',
    }),
    wire.toolDone('search_entities', 'c1', '[{"id":1},{"id":2},{"id":3}]'),
    wire.stepDone(1, true),
    wire.step(2),
    wire.says(
      'Three leads match. Two are archived already; one, **Gotthard Logistics**, is still open and would be deleted.',
      'msg_2',
      2,
    ),
    wire.tool('search_entities', 'c2', { activity_of: 'lead_1874' }),
    wire.toolDone('search_entities', 'c2', '[]'),
    ...ids.map((id, i) => wire.asks('delete_program_lead', `d${i}`, args(id))),
    wire.waits('delete_program_lead'),
  ]);
  const trace = traceOfSteps('paused', [
    step(1, [bar('search_entities', 'c1', { durationMs: 520 })]),
    step(
      2,
      [
        bar('search_entities', 'c2'),
        ...ids.map((_, i) =>
          bar('delete_program_lead', `d${i}`, { state: 'waiting', durationMs: 0 }),
        ),
      ],
      { type: 'waiting' },
    ),
  ]);
  const detail = detailOf({
    pendingApprovals:
      count > 1 ? [{ callId: 'd1', tool: 'delete_program_lead', args: {}, path: ['cleaner'] }] : [],
  });
  return chatProps(sessionOf(state), { trace, detail, ...more });
}
