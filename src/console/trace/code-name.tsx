import { Fragment, type ReactElement } from 'react';

/** A name from code, which may break between its words where there is no room for all of it. */
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
