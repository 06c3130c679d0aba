import { useEffect, useId, useMemo, useRef, useState, type ReactElement } from 'react';
import { statusGlyphs } from '../react/glyph.tsx';
import type { Api, ListedSession } from './api-client.ts';
import { Glyph, type GlyphName } from './glyphs.tsx';
import { railPages } from './pages.ts';
import { chatHref, go, pageHref, traceHref } from './route.ts';

export interface PaletteProps {
  readonly api: Api;
  readonly sessionId: string | null;
  readonly onHelp: () => void;
  readonly onTheme: () => void;
  readonly onClose: () => void;
}

interface Entry {
  readonly group: 'Actions' | 'Sessions' | 'Go to';
  readonly key: string;
  readonly glyph: GlyphName;
  readonly text: string;
  readonly note?: string;
  readonly run: () => void;
}

const TYPING_MS = 150;
const MOST_SESSIONS = 6;

/** Renders commands of the view, sessions and places. It moves the focus or the view; only buttons change a run. */
export function Palette(props: PaletteProps): ReactElement {
  const { api, onClose } = props;
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const [sessions, setSessions] = useState<readonly ListedSession[]>([]);
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [before] = useState(() => document.activeElement);
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  useEffect(() => {
    const end = new AbortController();
    const timer = setTimeout(
      () => {
        const search = typed.trim();
        api
          .list('own', { limit: MOST_SESSIONS, ...(search !== '' && { search }) }, end.signal)
          .then(
            (page) => setSessions(page.sessions),
            () => setSessions([]),
          );
      },
      typed === '' ? 0 : TYPING_MS,
    );
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [api, typed]);

  const entries = useMemo(() => {
    const words = typed.trim().toLowerCase();
    return [
      ...entriesOf(props, before).filter(({ text }) => text.toLowerCase().includes(words)),
      ...sessions.map(sessionEntry),
    ].toSorted((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group));
  }, [typed, sessions, props, before]);
  const chosen = Math.min(at, entries.length - 1);
  const run = (entry: Entry | undefined): void => {
    if (!entry) return;
    dialog.current?.close();
    entry.run();
  };
  return (
    <dialog
      ref={dialog}
      className="dialog palette"
      aria-label="Commands and sessions"
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current.close();
      }}
    >
      <div className="palette-field">
        <Glyph name="search" size={14} />
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={chosen >= 0 ? `${id}-${chosen}` : undefined}
          aria-label="Search or run a command"
          placeholder="Search or run a command"
          dir="auto"
          maxLength={200}
          autoFocus
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
            if (by !== undefined) {
              event.preventDefault();
              setAt((chosen + by + entries.length) % Math.max(1, entries.length));
            } else if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
              event.preventDefault();
              run(entries[chosen]);
            }
          }}
        />
        <kbd aria-hidden="true">Esc</kbd>
      </div>
      <div
        className="palette-list"
        role="listbox"
        id={`${id}-list`}
        aria-label="Commands and sessions"
      >
        {groups.map((group) => {
          const members = entries.filter((entry) => entry.group === group);
          return (
            members.length > 0 && (
              <div key={group} role="group" aria-label={group}>
                <p aria-hidden="true">{group}</p>
                {members.map((entry) => {
                  const place = entries.indexOf(entry);
                  return (
                    <div
                      key={entry.key}
                      id={`${id}-${place}`}
                      role="option"
                      aria-selected={place === chosen}
                      tabIndex={-1}
                      onMouseMove={() => setAt(place)}
                      onClick={() => run(entry)}
                    >
                      <Glyph name={entry.glyph} size={14} />
                      <span dir="auto">{entry.text}</span>
                      {entry.note !== undefined && <em>{entry.note}</em>}
                    </div>
                  );
                })}
              </div>
            )
          );
        })}
        {entries.length === 0 && <p>Nothing found</p>}
      </div>
      <footer aria-hidden="true">
        <kbd>↑</kbd>
        <kbd>↓</kbd> move <kbd>↵</kbd> open
      </footer>
    </dialog>
  );
}

const groups: readonly Entry['group'][] = ['Actions', 'Sessions', 'Go to'];

function entriesOf(
  { sessionId, onHelp, onTheme }: PaletteProps,
  before: Element | null,
): readonly Entry[] {
  const focusable = document.querySelector<HTMLElement>('[data-key="grant"]:not(:disabled)');
  const action = (key: string, glyph: GlyphName, text: string, run: () => void): Entry => ({
    group: 'Actions',
    key,
    glyph,
    text,
    run,
  });
  return [
    ...(focusable
      ? [
          {
            // the button is in focus then, and Enter acts: that is the question before a run changes
            ...action('grant', 'go', focusable.textContent ?? 'Continue', () =>
              setTimeout(() => focusable.focus()),
            ),
            note: 'then Enter',
          },
        ]
      : []),
    ...(sessionId === null
      ? []
      : [
          action('chat', 'chat', 'Show the chat', () => go(chatHref(sessionId))),
          action('trace', 'trace', 'Show the trace', () => go(traceHref(sessionId))),
        ]),
    action('new', 'plus', 'New session', () => go('#/new')),
    action('theme', 'theme', 'Switch the theme', () => {
      onTheme();
      if (before instanceof HTMLElement) before.focus();
    }),
    action('help', 'info', 'Keyboard shortcuts', onHelp),
    ...railPages().map(([name, { title, glyph, key = '' }]): Entry => ({
      group: 'Go to',
      key: name,
      glyph,
      text: title,
      note: `G ${key.toUpperCase()}`,
      run: () => go(pageHref(name)),
    })),
  ];
}

const sessionEntry = ({ id, title, status, reason }: ListedSession): Entry => ({
  group: 'Sessions',
  key: id,
  glyph: statusGlyphs[status],
  text: title ?? 'Untitled',
  note: reason,
  run: () => go(chatHref(id)),
});
