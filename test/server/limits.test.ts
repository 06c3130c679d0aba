import { fakeClock } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { until } from '../setup/sessions.ts';
import { SseClient } from '../setup/sse.ts';
import { requestFor, setup } from './setup.ts';

describe('the rate limit', () => {
  it('is separate for each owner and refills', async () => {
    const clock = fakeClock();
    const { ask } = setup({ rateLimit: { requests: 3, seconds: 30 }, clock });
    const get = async (as: string) => (await ask('GET /api/info', { as })).status;
    expect([await get('ann'), await get('ann'), await get('ann')]).toEqual([200, 200, 200]);
    const refused = await ask('GET /api/info');
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
    expect(refused.headers.get('retry-after')).toBe('10');
    expect(await get('bob')).toBe(200);
    expect(await get('dan')).toBe(401);
    expect((await ask('GET /api/health')).status).toBe(200);
    await clock.advance(10_000);
    expect([await get('ann'), await get('ann')]).toEqual([200, 429]);
  });

  it('is 600 requests per minute by default', async () => {
    const { server } = setup({ rateLimit: undefined as never, clock: fakeClock() });
    const request = () => requestFor('GET /api/info');
    for (let i = 0; i < 600; i += 1) expect((await server(request())).status).toBe(200);
    expect((await server(request())).status).toBe(429);
  });
});

describe('open streams', () => {
  const stream = 'GET /api/sessions/s/events';

  it('are limited per owner, and a closed stream frees a slot', async () => {
    const { ask, server } = setup({ maxStreams: 2 });
    await ask('POST /api/sessions', { body: { id: 's' } });
    const gone = new AbortController();
    const first = await server(new Request(requestFor(stream), { signal: gone.signal }));
    const second = await server(requestFor(stream));
    const third = await ask(stream);
    expect([third.status, third.body.error.code]).toEqual([429, 'too_many_streams']);
    expect(third.headers.get('retry-after')).toBe('5');
    // a request for a missing session does not count
    for (let i = 0; i < 5; i += 1)
      expect((await ask('GET /api/sessions/none/events', { as: 'bob' })).status).toBe(404);
    gone.abort();
    await new SseClient(first.body!).until(() => false);
    const again = await until(async () => {
      const response = await server(requestFor(stream));
      return response.status === 200 ? response : null;
    });
    await second.body!.cancel();
    await again.body!.cancel();
    const both = [await server(requestFor(stream)), await server(requestFor(stream))];
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    for (const { body } of both) await body!.cancel();
  });

  it('end when their owner loses access', async () => {
    const clock = fakeClock();
    let asked = 0;
    let welcome: string | null | Error = 'ann';
    const { ask, server, errors } = setup({
      clock,
      owner: () => {
        asked += 1;
        if (welcome instanceof Error) throw welcome;
        return welcome;
      },
    });
    await ask('POST /api/sessions', { body: { id: 's' } });
    const endings: (string | null | Error)[] = [null, 'bob', new Error('no database')];
    for (const ending of endings) {
      welcome = 'ann';
      const client = new SseClient((await server(requestFor(stream))).body!);
      const reading = client.until(() => false);
      const before = asked;
      await clock.advance(59_000);
      expect(asked).toBe(before);
      await clock.advance(2_000);
      await until(() => asked === before + 1);
      await clock.advance(0);
      expect(client.isEnded).toBe(false);
      welcome = ending;
      await clock.advance(60_000);
      await reading;
      expect(client.isEnded).toBe(true);
      const after = asked;
      await clock.advance(300_000);
      expect(asked).toBe(after);
    }
    expect(errors.splice(0)).toEqual([endings[2]]);
  });

  it('have their envelopes in order', async () => {
    const { ask, server, runtime } = setup();
    await ask('POST /api/sessions', { body: { id: 's', message: 'go' } });
    await runtime.wait('s', { owner: 'ann' });
    const response = await server(requestFor(stream));
    const client = new SseClient(response.body!);
    await client.until(() => client.ends > 0);
    expect(client.numbered.map(({ seq }) => seq)).toEqual(
      client.numbered.map(({ seq }) => seq).toSorted((a, b) => a! - b!),
    );
    await client.leave();
  });
});
