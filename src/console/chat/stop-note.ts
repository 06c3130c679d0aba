import { stopText } from '../../ui/stop-text.ts';
import type { UiMessage } from '../../ui/ui-message.ts';
import type { GlyphName } from '../glyphs.tsx';
import { sentence } from '../../sentence.ts';

/** Why a run stopped that the conversation has left behind. */
export interface StopNote {
  readonly glyph: GlyphName;
  readonly text: string;
}

/** What happened, without what would let it go on: it went on, or something else was asked. */
export function stopNote({ content, metadata }: UiMessage): StopNote {
  const { continuation, status_type: type } = metadata;
  const failed = type === 'error';
  const glyph = failed ? 'failed' : 'stopped';
  if (!continuation) return { glyph, text: content };
  const { stop_reason, reason } = continuation;
  if (stop_reason === 'user_requested') return { glyph: 'cancelled', text: 'Stopped by you.' };
  if (reason !== '') return { glyph, text: sentence(reason) };
  const { title } = stopText({
    status: failed ? 'failed' : 'stopped',
    ...(stop_reason && { stop_reason }),
  });
  return { glyph, text: `${title}.` };
}
