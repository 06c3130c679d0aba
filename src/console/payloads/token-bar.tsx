import type { ReactElement } from 'react';
import type { Usage } from '../../inference/usage.ts';
import { countText } from '../../number-text.ts';

/** Renders the tokens of a model call by what they cost: cached, cache writes, uncached, output. */
export function TokenBar({ usage }: { readonly usage: Usage }): ReactElement | null {
  const { input, output, cachedInput, cacheWrite = 0, reasoning } = usage;
  if (input + output === 0) return <p className="payload-note">The provider reported no usage.</p>;
  const all = [
    { kind: 'cached', count: cachedInput, name: 'cached' },
    { kind: 'writes', count: cacheWrite, name: 'cache writes' },
    { kind: 'uncached', count: Math.max(0, input - cachedInput - cacheWrite), name: 'uncached' },
    {
      kind: 'output',
      count: output,
      name: reasoning > 0 ? `output (${countText(reasoning)} reasoning)` : 'output',
    },
  ];
  const parts = all.filter(({ count }) => count > 0);
  return (
    <div className="token-bar">
      <div aria-hidden="true">
        {parts.map(({ kind, count }) => (
          <i key={kind} data-kind={kind} style={{ flexGrow: count }} />
        ))}
      </div>
      <ul aria-label="Tokens">
        {parts.map(({ kind, count, name }) => (
          <li key={kind}>
            <i data-kind={kind} aria-hidden="true" />
            <b>{countText(count)}</b> {name}
          </li>
        ))}
      </ul>
    </div>
  );
}
