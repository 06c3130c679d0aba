import { describe, expect, it } from 'vitest';
import { until } from '../setup/sessions.ts';
import { holdsConversation, startExample } from './node-example.ts';

describe('the Express example', () => {
  it('runs a conversation with an approval and exits on a signal with an open stream', async () => {
    const example = await startExample({ args: ['build/examples/server-express/server.js'] });
    const { url } = example;
    const signIn = async (name: string): Promise<{ 'x-session': string }> => {
      const body = new URLSearchParams({ name });
      return {
        'x-session': await (await fetch(`${url}/sign-in`, { method: 'POST', body })).text(),
      };
    };
    const client = await holdsConversation({
      url,
      headers: await signIn('ada'),
      others: await signIn('ben'),
      message: 'Cancel the meeting at 15:00',
      tool: 'cancel_meeting',
      answer: 'Done: the meeting at 15:00 is cancelled.',
    });
    client.follow();
    expect(await example.stop()).toBe(0);
    await until(() => client.isEnded);
    expect(example.printed()).toBe(`${url}\n`);
  }, 60_000);
});
