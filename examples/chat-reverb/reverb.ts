/** Where Reverb is, from the variables that Laravel writes into its .env. */
export interface Reverb {
  readonly appId: string;
  readonly key: string;
  readonly secret: string;
  readonly host: string;
  readonly port: number;
  readonly useTLS: boolean;
}

export function reverbOf(env: NodeJS.ProcessEnv): Reverb {
  const needed = (name: string): string => {
    const value = env[name];
    if (!value)
      throw new Error(`${name} is not set. README.md lists what Reverb's .env has to say.`);
    return value;
  };
  return {
    appId: needed('REVERB_APP_ID'),
    key: needed('REVERB_APP_KEY'),
    secret: needed('REVERB_APP_SECRET'),
    host: env['REVERB_HOST'] ?? '127.0.0.1',
    port: Number(env['REVERB_PORT'] ?? 8080),
    useTLS: env['REVERB_SCHEME'] === 'https',
  };
}
