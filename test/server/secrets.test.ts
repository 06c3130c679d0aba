import { defineTool, ErrorPolicy } from 'onward';
import { agentServer } from 'onward/server';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { builderWith, followingDriver, runtimeOn, sqlitePlace } from '../setup/sessions.ts';
import { SseClient } from '../setup/sse.ts';
import { asking, operations, owner, requestFor, setup, type AskOptions } from './setup.ts';
import { byKey, byLook, leakIn, ours, planted, redactor, words } from '../setup/canary.ts';

const { error, final, toolCall, toolCalls } = ScenarioStep;
const ann = { owner: 'ann' };

const parameters = { type: 'object' } as const;
const vault = defineTool({
  name: 'vault',
  description: 'Keeps.',
  parameters,
  execute: () => planted,
});
const broken = defineTool({
  name: 'broken',
  description: 'Breaks.',
  parameters,
  execute: () => {
    throw new Error(words);
  },
});
const guarded = defineTool({
  name: 'guarded',
  description: 'Asks first.',
  parameters,
  needsApproval: true,
  execute: () => words,
});

function plantedServer() {
  const script = [
    [
      toolCall('vault', planted),
      toolCall('broken', planted),
      toolCalls([
        { id: 'c1', name: 'guarded', args: planted },
        { id: 'c2', name: 'guarded', args: planted },
      ]),
      error({ type: 'model', message: words }),
    ],
    [toolCalls([{ id: 'c3', name: 'guarded', args: planted }])],
  ];
  const agent = builderWith(followingDriver(...script), vault, broken, guarded)
    .withRedactor(redactor)
    .withErrorPolicy(ErrorPolicy.retryToolErrors(5))
    .build();
  const runtime = runtimeOn(sqlitePlace().open(), agent);
  const server = agentServer({ runtime, owner, agents: [agent], rateLimit: null });
  onTestFinished(() => server.close());
  return { runtime, server, ask: asking(server) };
}

describe('D43: responses contain no secret', () => {
  it('of a message, metadata, arguments, results, errors, answers and reasons', async () => {
    const { ask, runtime, server } = plantedServer();
    const texts: Record<string, string> = {};
    const keep = async (line: string, options?: AskOptions) => {
      const { text, headers, status } = await ask(line, options);
      texts[`${Object.keys(texts).length} ${line} ${status}`] = text + JSON.stringify([...headers]);
      return JSON.parse(text || 'null');
    };
    const response = await server(
      (await keep('POST /api/sessions', { body: { id: 's', metadata: planted } })) &&
        requestFor('GET /api/sessions/s/events'),
    );
    const client = new SseClient(response.body!).follow();
    const read = async () => {
      for (const path of ['', '/messages', '/log', '/trace'])
        await keep(`GET /api/sessions/s${path}`);
      await keep('GET /api/sessions');
      await keep('GET /api/sessions?search=401');
      await keep('GET /api/info');
    };
    await keep('POST /api/sessions/s/messages', { body: { content: words } });
    await runtime.wait('s', ann);
    await read();
    const answer = 'POST /api/sessions/s/approvals';
    await keep(`${answer}/c1`, { body: { decision: 'approve', args: planted } });
    await keep(`${answer}/c2`, { body: { decision: 'deny', reason: words } });
    await runtime.wait('s', ann);
    await read();
    await keep(`${answer}/c1`, { body: { decision: 'approve' } });
    await keep('POST /api/sessions/s/resume', { body: {} });
    await keep('POST /api/sessions/s/fork', { body: { id: 'f', atStep: 2 } });
    await keep('GET /api/sessions/f');
    await keep('POST /api/sessions/s/messages', { body: { content: words } });
    await runtime.wait('s', ann);
    await keep('POST /api/sessions/s/pause', { body: { reason: words } });
    await keep('POST /api/sessions/s/stop', { body: { reason: words } });
    await runtime.wait('s', ann);
    await read();
    const log = JSON.stringify(await keep('GET /api/sessions/s/log'));
    for (const [, ref] of log.matchAll(/"ref":"([^"]+)"/g))
      await keep(`GET /api/sessions/s/refs?ref=${encodeURIComponent(ref!)}`);
    await client.leave();
    texts['events'] = client.envelopes.map((envelope) => JSON.stringify(envelope)).join('\n');
    expect(client.envelopes.length).toBeGreaterThan(10);

    const leaks = Object.entries(texts).flatMap(([name, text]) => {
      const leak = leakIn(text);
      return leak === null ? [] : [`${name}: ${leak}`];
    });
    expect(leaks).toEqual([]);
    const shown = Object.entries(texts).filter(([, text]) => text.includes('[redacted]'));
    expect(shown.length).toBeGreaterThan(15);
    // the state has all of them
    const state = JSON.stringify(await runtime.state('s', ann));
    for (const secret of [byLook, byKey, ours]) expect(state).toContain(secret);
  });

  it('of a refused request', async () => {
    const { server } = plantedServer();
    const bodies = [
      { [byLook]: 1 },
      { id: byLook, agent: { [byLook]: byKey } },
      { agent: byLook },
      { metadata: words },
      { message: { text: words } },
    ];
    const seen: string[] = [];
    for (const body of bodies)
      seen.push(await (await server(requestFor('POST /api/sessions', { body }))).text());
    for (const path of [
      `sessions/${byLook}`,
      `sessions/x/approvals/${byLook}`,
      `sessions/x/refs?ref=${byLook}`,
    ])
      seen.push(await (await server(requestFor(`GET /api/${path}`))).text());
    const raw = `{"password": "${byKey}", ${byLook}`;
    seen.push(await (await server(requestFor('POST /api/sessions', { body: raw }))).text());
    expect(seen.map(leakIn).filter(Boolean)).toEqual([]);
  });

  it('of a store error, which is logged with redaction', async () => {
    const spy = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { server, runtime } = plantedServer();
    vi.spyOn(runtime, 'get').mockRejectedValue(new Error(words));
    const response = await server(requestFor('GET /api/sessions/s'));
    expect(response.status).toBe(500);
    expect(leakIn(await response.text())).toBeNull();
    const line = JSON.stringify(spy.mock.calls);
    expect(line).toContain('401 for [redacted]');
    expect(line).not.toContain(byLook);
    vi.restoreAllMocks();
  });
});

describe('markup from a model or a tool', () => {
  const script =
    '<script>alert(1)</script><img src=x onerror=alert(1)>\u2028\u2029--><svg/onload=1>';

  it('is sent as JSON that no browser renders', async () => {
    const all = setup({ turns: [[toolCall('look', { article: script }), final(script)]] });
    const { ask, runtime, server } = all;
    await ask('POST /api/sessions', {
      body: { id: 's', message: script, metadata: { title: script } },
    });
    await runtime.wait('s', ann);
    const reads = operations(server).filter(
      ({ method, path, operation }) =>
        method === 'GET' && path.includes('{id}') && operation.operationId !== 'streamEvents',
    );
    for (const { path } of reads) {
      const query = path.endsWith('/refs') ? '?ref=1.content.x' : '';
      const said = await ask(`GET /api${path.replace('{id}', 's')}${query}`);
      expect(said.headers.get('content-type')).toMatch(
        /^application\/(?:json; charset=utf-8|x-ndjson)$/,
      );
      expect(said.headers.get('x-content-type-options')).toBe('nosniff');
    }
    const { body } = await ask('GET /api/sessions/s/messages');
    expect(body.messages.at(-1).content).toBe(script);
    const stream = await server(requestFor('GET /api/sessions/s/events'));
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(stream.headers.get('x-content-type-options')).toBe('nosniff');
    const client = new SseClient(stream.body!);
    await client.until(() => client.ends > 0);
    const names = [...client.text.matchAll(/^(\w*):/gm)].map(([, name]) => name);
    expect(new Set(names)).toEqual(new Set(['retry', 'id', 'event', 'data']));
    await client.leave();
  });

  it('in a URL gets a JSON response', async () => {
    const { ask } = setup();
    for (const path of ['/api/<script>', `/api/sessions/${encodeURIComponent('<script>')}`]) {
      const said = await ask(`GET ${path}`);
      expect(said.status).toBe(404);
      expect(said.headers.get('content-type')).toMatch(
        /^application\/(?:json; charset=utf-8|x-ndjson)$/,
      );
    }
  });
});
