import type { ReactElement, ReactNode, Ref } from 'react';
import type { BroadcastStatus } from '../agent/agent-status.ts';
import { statusGlyphs } from '../react/glyph.tsx';
import { Glyph } from './glyphs.tsx';
import { PaletteButton } from './palette-button.tsx';
import { chatHref, traceHref, type Route } from './route.ts';

export interface TopBarProps {
  readonly route: Route;
  /** Name of the server, or of one of its agents. */
  readonly name: string;
  readonly title: string | null;
  readonly titleRef: Ref<HTMLHeadingElement>;
  /** Whether a session is open. */
  readonly hasViews: boolean;
  readonly status: { readonly is: BroadcastStatus; readonly words: string } | null;
  readonly isListShown: boolean;
  readonly onFold: () => void;
  readonly onInfo: () => void;
  readonly onPalette: () => void;
  /** Content next to the status, such as the run picker. */
  readonly children?: ReactNode;
}

export function TopBar(props: TopBarProps): ReactElement {
  const { route, status, isListShown } = props;
  return (
    <header className="top">
      <div className="brand">
        <a className="button button-icon button-ghost top-back" href="#/" aria-label="All sessions">
          <Glyph name="back" />
        </a>
        <a className="brand-home" href="#/">
          <b>Onward</b>
        </a>
        <span className="brand-agent">{props.name}</span>
        <button
          type="button"
          className="button button-icon button-ghost button-small top-fold"
          aria-label={isListShown ? 'Hide the list' : 'Show the list'}
          aria-expanded={isListShown}
          aria-keyshortcuts="["
          title={`${isListShown ? 'Hide' : 'Show'} the list ([)`}
          onClick={props.onFold}
        >
          <Glyph name="panel" size={14} />
        </button>
      </div>
      <div className="top-session">
        <h1 ref={props.titleRef} tabIndex={-1} title={props.title ?? undefined}>
          {props.title}
        </h1>
        {status && (
          <span className="pill" data-status={status.is}>
            <Glyph name={statusGlyphs[status.is]} size={13} />
            {status.words}
          </span>
        )}
        {props.children}
      </div>
      <div className="top-tools">
        <PaletteButton onOpen={props.onPalette} />
        {props.hasViews && (route.view === 'chat' || route.view === 'trace') && (
          <Tabs route={route} />
        )}
        <button
          type="button"
          className="button button-icon button-ghost"
          aria-label="About this session"
          title="About this session"
          onClick={props.onInfo}
        >
          <Glyph name="info" size={14} />
        </button>
      </div>
    </header>
  );
}

function Tabs({
  route,
}: {
  readonly route: Extract<Route, { readonly sessionId: string }>;
}): ReactElement {
  const { view, sessionId } = route;
  return (
    <nav className="tabs" aria-label="View">
      <a
        href={chatHref(sessionId)}
        aria-current={view === 'chat' ? 'page' : undefined}
        aria-keyshortcuts="C"
      >
        <Glyph name="chat" size={14} />
        Chat
      </a>
      <a
        href={traceHref(sessionId)}
        aria-current={view === 'trace' ? 'page' : undefined}
        aria-keyshortcuts="T"
      >
        <Glyph name="trace" size={14} />
        Trace
      </a>
    </nav>
  );
}
