import { Suspense, type ReactElement } from 'react';
import { EmptyState } from './empty-state.tsx';
import { pages, type PageProps } from './pages.ts';

/** Renders a page, or says that there is none at this address. */
export function PageMain(props: PageProps): ReactElement {
  const found = pages[props.route.page];
  if (!found)
    return (
      <EmptyState
        glyph="cancelled"
        title="Page not found"
        action={
          <a className="button" href="#/">
            All sessions
          </a>
        }
      >
        <p>This version of the console has no page at this address.</p>
      </EmptyState>
    );
  return (
    <Suspense fallback={<PageSkeleton />}>
      <found.Page {...props} />
    </Suspense>
  );
}

/** Renders gray bars, which appear only after a short while. */
function PageSkeleton(): ReactElement {
  return (
    <div className="page" aria-busy="true">
      <span className="visually-hidden">Loading…</span>
      <div className="skeleton" aria-hidden="true">
        {[0.4, 1, 0.9, 1, 0.7].map((width, at) => (
          // oxlint-disable-next-line react/no-array-index-key
          <span key={at} style={{ width: `${width * 100}%` }} />
        ))}
      </div>
    </div>
  );
}
