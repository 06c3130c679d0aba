import type { ReactElement } from 'react';
import { visibleText } from '../visible-text.ts';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface InputAddressProps {
  readonly url: string;
  readonly tool: string;
}

/** Renders the whole address that a tool asks to open, with its host and who asks. Only web addresses are links. */
export function InputAddress({ url, tool }: InputAddressProps): ReactElement {
  const { labels } = useUi();
  const address = addressOf(url);
  if (!address) return <p {...part('input-address')}>{visibleText(url)}</p>;
  const { before, host, after } = address;
  return (
    <>
      <p {...part('input-address')} dir="ltr">
        {before}
        <strong {...part('input-host')}>{host}</strong>
        {after}
      </p>
      <p {...part('note')}>{labels.inputWarning(visibleText(tool), host)}</p>
      <p {...part('input-open')}>
        <a {...part('link')} href={before + host + after} target="_blank" rel="noopener noreferrer">
          {labels.inputOpen}
        </a>
      </p>
    </>
  );
}

/** Splits an http or https address around its host, in the form in which a browser opens it; null if it is none. */
function addressOf(url: string): Readonly<Record<'before' | 'host' | 'after', string>> | null {
  if (!URL.canParse(url)) return null;
  const { protocol, username, password, host, href } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return null;
  const user = username === '' && password === '' ? '' : href.slice(0, href.indexOf('@') + 1);
  const before = user === '' ? `${protocol}//` : user;
  return { before, host, after: href.slice(before.length + host.length) };
}
