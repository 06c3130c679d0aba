import { describe, expect, it } from 'vitest';
import { until } from '../setup/sessions.ts';
import { holdsConversation, startExample } from './node-example.ts';

describe('the Hono example', () => {
  it('runs a conversation with an approval and exits on a signal with an open stream', async () => {
    const example = await startExample({ args: ['build/examples/server-hono/server.js'] });
    const { url } = example;
    expect(await (await fetch(url)).text()).toBe('The agents are under /api.');
    expect(await (await fetch(`${url}/api/health`)).json()).toMatchObject({ ok: true });
    const client = await holdsConversation({
      url,
      headers: { authorization: 'Bearer for-ada' },
      others: { authorization: 'Bearer for-ben' },
      message: 'Pay order A-1001 back',
      tool: 'refund',
      answer: 'Done: order A-1001 is paid back.',
    });
    client.follow();
    expect(await example.stop()).toBe(0);
    await until(() => client.isEnded);
    expect(example.printed()).toBe(`${url}\n`);
  }, 60_000);
});
