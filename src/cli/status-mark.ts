import { statusFacts } from '../agent/agent-status.ts';
import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { Session } from '../sessions/session.ts';

interface StatusMark {
  readonly glyph: string;
  readonly style: 'green' | 'red' | 'yellow' | 'blue' | 'dim' | 'bold';
}

/** Marks with shapes that differ without color. A limit is not a failure, so it is not red. */
const marks: Readonly<Record<BroadcastStatus, StatusMark>> = {
  idle: { glyph: '·', style: 'dim' },
  processing: { glyph: '▸', style: 'blue' },
  paused: { glyph: '‖', style: 'yellow' },
  completed: { glyph: '✓', style: 'green' },
  stopped: { glyph: '■', style: 'bold' },
  cancelled: { glyph: '⊘', style: 'dim' },
  failed: { glyph: '✗', style: 'red' },
};

export const statusMark = ({
  status,
  stopReason,
}: Pick<Session, 'status' | 'stopReason'>): StatusMark =>
  marks[statusFacts(status, stopReason).broadcast];
