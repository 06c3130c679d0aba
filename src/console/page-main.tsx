import { Suspense, type ReactElement } from 'react';
import { pages, type PageProps } from './pages.ts';

/** Renders a page as soon as its file has arrived. */
export function PageMain(props: PageProps): ReactElement {
  const { Page } = pages[props.route.page];
  return (
    <Suspense fallback={<PageSkeleton />}>
      <Page {...props} />
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
