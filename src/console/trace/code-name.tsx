import { Fragment, type ReactElement } from 'react';

/** Renders a name from code, which may wrap between its words. */
export function CodeName({ name }: { readonly name: string }): ReactElement {
  return (
    <code>
      {name.split(/(?<=[a-z_])(?=[A-Z])/).map((word, i) => (
        <Fragment key={`${i}${word}`}>
          {i > 0 && <wbr />}
          {word}
        </Fragment>
      ))}
    </code>
  );
}
