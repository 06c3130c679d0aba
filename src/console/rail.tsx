import type { ReactElement } from 'react';
import { Glyph } from './glyphs.tsx';
import { railPages } from './pages.ts';
import { pageHref, type PageName } from './route.ts';

export interface RailProps {
  /** The page of the current view; a session belongs to the sessions. */
  readonly current: PageName | null;
  /** Number of things that need a person, by page. */
  readonly badges: Readonly<Partial<Record<PageName, number>>>;
  readonly theme: 'light' | 'dark';
  readonly onTheme: () => void;
  readonly onHelp: () => void;
}

/** Renders the pages of the console: at the left, on a phone at the bottom. */
export function Rail({ current, badges, theme, onTheme, onHelp }: RailProps): ReactElement {
  const other = theme === 'dark' ? 'Light theme' : 'Dark theme';
  return (
    <nav className="rail" aria-label="Console">
      <a className="rail-logo" href="#/" aria-label="Onward">
        <span className="brand-logo">
          <Glyph name="go" size={14} />
        </span>
      </a>
      {railPages().map(([name, { title, glyph, key }]) => (
        <a
          key={name}
          className="rail-page"
          href={pageHref(name)}
          aria-current={name === current ? 'page' : undefined}
          aria-keyshortcuts={`G ${key?.toUpperCase()}`}
        >
          <Glyph name={glyph} />
          <span>{title}</span>
          <Badge count={badges[name] ?? 0} />
        </a>
      ))}
      <div className="rail-end">
        <button
          type="button"
          className="button button-icon button-ghost"
          aria-label="Keyboard shortcuts"
          aria-keyshortcuts="?"
          title="Keyboard shortcuts (?)"
          onClick={onHelp}
        >
          ?
        </button>
        <button
          type="button"
          className="button button-icon button-ghost"
          aria-label={other}
          title={other}
          onClick={onTheme}
        >
          <Glyph name="theme" size={14} />
        </button>
      </div>
    </nav>
  );
}

/** Most things that a badge counts. */
const most = 99;

function Badge({ count }: { readonly count: number }): ReactElement | null {
  if (count === 0) return null;
  return (
    <>
      <b aria-hidden="true">{count > most ? `${most}+` : count}</b>
      <span className="visually-hidden">{` ${count} need attention`}</span>
    </>
  );
}
