import { useId, useState, type FormEvent, type ReactElement } from 'react';
import { Glyph } from './glyphs.tsx';
import { pastedToken } from './token.ts';

/** Renders a form for a browser without a token, or with one that the server no longer accepts. */
export function SignIn({
  wasRefused,
  onToken,
}: {
  /** Whether a token was sent and refused. */
  readonly wasRefused: boolean;
  readonly onToken: (token: string) => void;
}): ReactElement {
  const [text, setText] = useState('');
  const id = useId();
  const token = pastedToken(text);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (token !== '') onToken(token);
  };
  return (
    <main className="sign-in">
      <form className="empty" onSubmit={submit}>
        <span className="brand-logo">
          <Glyph name="go" size={14} />
        </span>
        <h1>Sign in</h1>
        <div className="empty-text">
          <p>
            {wasRefused
              ? 'The server no longer accepts this token. Open the address that it printed at its last start, or paste it here.'
              : 'Open the address that the server printed, or paste it here.'}
          </p>
        </div>
        <label className="visually-hidden" htmlFor={id}>
          Token or address
        </label>
        <input
          id={id}
          className="field mono"
          type="password"
          autoComplete="off"
          spellCheck={false}
          placeholder="Token or address"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit" className="button button-primary" disabled={token === ''}>
          Sign in
        </button>
      </form>
    </main>
  );
}
