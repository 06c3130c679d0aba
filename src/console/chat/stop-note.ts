import type { UiMessage } from '../../ui/ui-message.ts';
import type { GlyphName } from '../glyphs.tsx';

/** Why an earlier run stopped. */
export interface StopNote {
  readonly glyph: GlyphName;
  readonly text: string;
}

/** Returns what happened, without an action: the run continued, or a new message was sent. */
export function stopNote({ content, metadata }: UiMessage): StopNote {
  const { continuation, status_type: type } = metadata;
  const glyph = type === 'error' ? 'failed' : 'stopped';
  if (!continuation) return { glyph, text: content };
  const { stop_reason, reason } = continuation;
  return {
    glyph: stop_reason === 'user_requested' ? 'cancelled' : glyph,
    text: reason || content,
  };
}
