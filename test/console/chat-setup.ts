import type { ChatViewProps } from '../../src/console/contract.ts';
import type { Envelope } from '../../src/broadcasting/envelope.ts';
import type { Trace } from '../../src/trace/trace.ts';
import type { SessionAction } from '../../src/ui/sources/session-actions.ts';
import { chatProps, sessionOf, stateAfter } from './chat-fixtures.ts';

/** Returns the line of each call. */
export const rows = (): string[] =>
  [...document.querySelectorAll('.call > summary')].map((row) =>
    [...row.querySelectorAll('code, bdi, span')].map(({ textContent }) => textContent).join(' | '),
  );
export const action = (more: Partial<SessionAction>): SessionAction => ({
  id: 'act_1',
  kind: 'approve',
  about: 'd0',
  status: 'pending',
  error: null,
  ...more,
});
export const refused = (message: string, code: string): Error =>
  Object.assign(new Error(message), { code });
export const withActions = (props: ChatViewProps, ...actions: SessionAction[]): ChatViewProps => ({
  ...props,
  session: { ...props.session, actions },
});
export const liveProps = (
  envelopes: readonly Envelope[],
  trace: Trace | null = null,
): ChatViewProps => chatProps(sessionOf(stateAfter(envelopes)), { trace });
