import type { ReactElement, ReactNode } from 'react';

export const metadata: { readonly title: string } = { title: 'Editor' };

export default function Layout({ children }: { readonly children: ReactNode }): ReactElement {
  return (
    <html lang="en">
      <head>
        <link rel="icon" href="data:," />
      </head>
      <body style={{ font: '15px/1.5 system-ui, sans-serif', margin: '0 auto', maxWidth: 640 }}>
        {children}
      </body>
    </html>
  );
}
