import {
  lazy,
  Suspense,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  type ReactElement,
} from 'react';
import { explanationLine } from '../continuation/explanation.ts';
import { Announcer } from './announcer.tsx';
import type { Api } from './api-client.ts';
import { ConnectionStrip } from './connection-strip.tsx';
import { ServerUnreachable } from './empty-state.tsx';
import { ExecutionPicker } from './execution-picker.tsx';
import { HelpDialog } from './help-dialog.tsx';
import { ForkBadge } from './chat/fork-badge.tsx';
import { InfoDialog } from './info-dialog.tsx';
import { NoticeStrip } from './notice-strip.tsx';
import { hrefAbove } from './nested-href.ts';
import { chatHref, go, pageHref, parseRoute, traceHref, useHash } from './route.ts';
import { sessionHead } from './session-head.ts';
import { stepPosition } from './step-position.ts';
import { SessionList } from './session-list.tsx';
import { PageBar } from './page-bar.tsx';
import { PageMain } from './page-main.tsx';
import { PageToolsSlot } from './page-tools.tsx';
import { pages, railPages } from './pages.ts';
import { Rail } from './rail.tsx';
import { SessionMain } from './session-main.tsx';
import { StartView } from './start-view.tsx';
import { useTheme } from './theme.ts';
import { TopBar } from './top-bar.tsx';
import { useBadges } from './use-badges.ts';
import { useFold } from './use-fold.ts';
import { useKeys, usePaletteKey, type KeyActions } from './use-keys.ts';
import { useRouteFocus } from './use-route-focus.ts';
import { useServerInfo } from './use-server-info.ts';
import { useActiveSession } from './use-active-session.ts';
import { useSessionWork } from './use-session-work.ts';
import { useSessions } from './use-sessions.ts';
import { ViewBoundary } from './view-boundary.tsx';

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));

/** Renders the frame of the console: pages, top bar, list and the view of the current route. */
export function Console({ api }: { readonly api: Api }): ReactElement {
  const hash = useHash();
  const route = useMemo(() => parseRoute(hash), [hash]);
  const sessionId = 'sessionId' in route ? route.sessionId : null;

  const [round, setRound] = useState(0);
  const { info, problem: infoProblem } = useServerInfo(api, round);
  const [typed, setTyped] = useState('');
  const sessions = useSessions(api, typed);
  const { refresh } = sessions;

  const title = useRef<HTMLHeadingElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const focusNext = useRouteFocus(route, title);
  const toComposer = useCallback(() => focusNext('composer'), [focusNext]);
  const work = useSessionWork(api, sessionId, toComposer);
  const { retry: retryWork } = work;
  const retryListed = useCallback(
    (id: string): void => void retryWork(id).then(refresh),
    [retryWork, refresh],
  );
  const execution = route.view === 'trace' ? route.execution : null;
  const call = route.view === 'trace' ? (route.call ?? null) : null;
  const active = useActiveSession(api, sessionId, { execution, call, known: work.made });
  const { session, detail, status } = active;

  // an event in the open session changes the list
  const news = [
    sessionId,
    status,
    session.approvals.length,
    session.inputs.length,
    session.stop?.timestamp,
  ].join();
  const listedNews = useRef(news);
  useEffect(() => {
    if (listedNews.current !== news) refresh();
    listedNews.current = news;
  }, [refresh, news]);
  const listed = sessions.sessions?.find(({ id }) => id === sessionId) ?? null;
  const { approvals, inputs, stop } = session;
  const { problem, trace } = active;
  const step = trace?.status === 'processing' ? trace.totals.steps.used + 1 : null;
  const head = useMemo(
    () =>
      sessionHead(sessionId, { detail, status, approvals, inputs, stop, problem, step }, listed),
    [sessionId, detail, status, approvals, inputs, stop, problem, step, listed],
  );
  const page = route.view === 'page' ? pages[route.page] : null;
  const heading = page?.title ?? head.heading;
  const words = route.view === 'page' ? null : head.words;
  useEffect(() => {
    const isHome = route.view === 'home';
    document.title = [words, isHome ? null : heading, 'Onward'].filter(Boolean).join(' · ');
  }, [words, heading, route.view]);
  const [pageTools, setPageTools] = useState<HTMLElement | null>(null);

  const { theme, toggle } = useTheme();
  const fold = useFold(route.view === 'trace');
  const [dialog, setDialog] = useState<'info' | 'help' | 'palette' | null>(null);
  const rules = useMemo(
    () =>
      sessionId === null
        ? null
        : {
            load: () => api.rules(sessionId),
            revoke: (rule: string) => api.revokeRule(sessionId, rule),
          },
    [api, sessionId],
  );
  const keys: KeyActions = {
    '/': () => search.current?.focus(),
    n: () => go('#/new'),
    '[': fold.toggle,
    '?': () => setDialog('help'),
    ...(sessionId !== null && {
      c: () => go(chatHref(sessionId)),
      t: () => go(traceHref(sessionId)),
    }),
    ...(route.view === 'trace' &&
      call !== null && { escape: () => go(hrefAbove(route, active.chosen)) }),
    ...Object.fromEntries(
      railPages().map(([name, { key }]) => [`g ${key}`, () => go(pageHref(name))]),
    ),
  };
  useKeys(keys, 'frame');
  usePaletteKey(() => setDialog('palette'));
  const badges = useBadges(api, info);

  const retry = (): void => {
    setRound(round + 1);
    refresh();
    active.retry();
  };
  if (!info && infoProblem?.isUnreachable)
    return (
      <main className="sign-in">
        <h1 className="visually-hidden">Onward</h1>
        <ServerUnreachable onRetry={retry} />
      </main>
    );
  const agent = info?.agents.find(({ name }) => name === head.agent) ?? null;
  const isOnline = infoProblem === null && sessions.problem === null;
  return (
    <div className="frame" data-view={route.view} data-list={fold.shown}>
      <button
        type="button"
        className="skip"
        onClick={() => document.getElementById('main')?.focus()}
      >
        Skip to the{' '}
        {route.view === 'trace' ? 'trace' : route.view === 'page' ? 'page' : 'conversation'}
      </button>
      <Rail
        current={route.view === 'page' ? route.page : 'sessions'}
        badges={badges}
        theme={theme}
        onTheme={toggle}
        onHelp={() => setDialog('help')}
      />
      {route.view === 'page' ? (
        <PageBar
          title={heading ?? ''}
          titleRef={title}
          toolsRef={setPageTools}
          onPalette={() => setDialog('palette')}
        />
      ) : (
        <TopBar
          route={route}
          // one title for all views, unless there are several agents
          name={(info && info.agents.length > 1 ? head.agent : null) ?? info?.name ?? ''}
          hasViews={problem?.isNotFound !== true}
          title={heading}
          titleRef={title}
          status={words === null ? null : { is: status, words }}
          isListShown={fold.isShown}
          onFold={fold.toggle}
          onInfo={() => setDialog('info')}
          onPalette={() => setDialog('palette')}
        >
          {route.view === 'chat' && detail?.forkedFrom && (
            <ForkBadge
              key={detail.id}
              origin={detail.forkedFrom}
              onDiscard={async () => {
                const refused = await work.remove();
                if (refused === null) refresh();
                return refused;
              }}
            />
          )}
          {route.view === 'trace' && active.chosen && (
            <ExecutionPicker
              trace={active.chosen}
              onPick={(id) => go(traceHref(route.sessionId, null, id))}
            />
          )}
        </TopBar>
      )}
      {route.view !== 'page' && (
        <SessionList
          onRetry={retryListed}
          sessions={sessions}
          typed={typed}
          onType={setTyped}
          openId={sessionId}
          open={head.open}
          info={info}
          isOnline={isOnline}
          searchRef={search}
        />
      )}
      <main id="main" tabIndex={-1}>
        <ConnectionStrip
          active={sessionId === null ? null : active}
          isOnline={isOnline}
          onRetry={retry}
        />
        {work.notice !== null && (
          <NoticeStrip lead="Not forked." message={work.notice} onDismiss={work.dismiss} />
        )}
        <ViewBoundary resetBy={hash}>
          {route.view === 'chat' || route.view === 'trace' ? (
            <SessionMain
              key={route.sessionId}
              api={api}
              route={route}
              active={active}
              agent={agent}
              maxAttachmentBytes={info?.maxAttachmentBytes}
              onFork={(number) => work.forkAt(stepPosition(number, active))}
              onNewMessage={() => {
                toComposer();
                go(chatHref(route.sessionId));
              }}
              onRetry={retry}
            />
          ) : route.view === 'page' ? (
            <PageToolsSlot value={pageTools}>
              <PageMain api={api} info={info} route={route} />
            </PageToolsSlot>
          ) : (
            info && <StartView agents={info.agents} onStart={work.start} />
          )}
        </ViewBoundary>
      </main>
      <Announcer
        about={`${route.view} ${sessionId}`}
        status={words}
        // the chat announces messages itself
        approvals={route.view === 'chat' ? [] : approvals.map(({ tool }) => tool)}
        inputs={route.view === 'chat' ? [] : inputs.map(({ tool }) => tool)}
        stop={
          route.view !== 'chat' && active.trace?.stop
            ? explanationLine(active.trace.stop.explanation)
            : null
        }
      />
      {dialog === 'palette' && (
        <Suspense>
          <Palette
            api={api}
            sessionId={sessionId}
            onHelp={() => setDialog('help')}
            onTheme={toggle}
            onClose={() => setDialog((open) => (open === 'palette' ? null : open))}
          />
        </Suspense>
      )}
      {dialog === 'help' && <HelpDialog onClose={() => setDialog(null)} />}
      {dialog === 'info' && (
        <InfoDialog
          info={info}
          agent={agent}
          detail={detail}
          rules={rules}
          onDelete={async () => {
            const problem = await work.remove();
            if (problem !== null) return problem;
            setDialog(null);
            refresh();
            return null;
          }}
          onHelp={() => setDialog('help')}
          onClose={() => setDialog((open) => (open === 'info' ? null : open))}
        />
      )}
    </div>
  );
}
