import { useState, type ReactElement } from 'react';

/** Asks the server for a token. */
export function SignIn({ onToken }: { readonly onToken: (token: string) => void }): ReactElement {
  const [problem, setProblem] = useState('');
  const ask = async (form: FormData): Promise<void> => {
    const response = await fetch('/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(Object.fromEntries(form)),
    });
    if (response.ok) onToken(((await response.json()) as { token: string }).token);
    else setProblem('Name or password is wrong.');
  };
  return (
    <form className="sign-in" action={(form) => ask(form)}>
      <label>
        Name <input name="name" autoComplete="username" required />
      </label>
      <label>
        Password <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <button>Sign in</button>
      <p role="alert">{problem}</p>
    </form>
  );
}
