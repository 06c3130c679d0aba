import { AgentBuilder, ErrorPolicy, type Hook } from 'onward';
import { agentServer } from 'onward/server';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  builderWith,
  followingDriver,
  runtimeOn,
  sqlitePlace,
  waiting,
} from '../setup/sessions.ts';
import { asking, owner, type Ask } from './setup.ts';
import type { SessionRuntime } from '../../src/sessions/session-runtime.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz012345';
const long = Array.from({ length: 400 }, (_, i) => `line ${i} of the catalog`).join('\n');

const noting: Hook = {
  name: 'noting',
  aroundModelCall: (request, next) =>
    next({
      ...request,
      messages: request.messages.append({
        role: 'user',
        content: 'Be quick.',
        metadata: { synthetic: true },
      }),
    }),
};

/** A session of ann: a call that fails and is retried, one that an approver edits, and a nested agent. */
async function story(): Promise<{ ask: Ask; runtime: SessionRuntime }> {
  let tries = 0;
  const find = mockTool('find', () => {
    tries += 1;
    if (tries === 1) throw new Error(`no answer from the directory, key ${secret}`);
    return { company: 'Narva', api_key: secret, text: long };
  });
  const update = mockTool('update', 'updated', { needsApproval: true });
  const helper = AgentBuilder.base()
    .withName('helper')
    .withDriver(followingDriver([final('It is 31.')]))
    .build();
  const driver = followingDriver(
    [
      toolCall('find', { name: 'narva' }, 'Let me look.', { reasoning: 'The directory knows.' }),
      toolCall('find', { name: 'narva' }, 'Again.'),
      toolCalls([
        { name: 'update', args: { owner: 'sam', rows: [{ size: 1 }] } },
        { name: 'ask', args: { input: 'How old?' } },
      ]),
      final('Done.'),
    ],
    [final('Over.')],
  );
  const agent = builderWith(
    driver,
    find,
    update,
    helper.asTool({ name: 'ask', description: 'Asks.' }),
  )
    .withSystemPrompt(`You help.\nThe key is ${secret}.`)
    .withErrorPolicy(ErrorPolicy.retryToolErrors(2))
    .withHooks(noting)
    .build();
  const runtime = runtimeOn(sqlitePlace().open(), agent);
  const server = agentServer({
    runtime,
    owner,
    agents: [agent],
    name: 'test',
    rateLimit: null,
    payloads: true,
  });
  onTestFinished(() => server.close());
  await runtime.create({ owner: 'ann', id: 's' });
  const { pendingApprovals } = await runtime.send('s', 'Look up Narva.', waiting);
  const call = pendingApprovals[0]?.callId ?? '';
  const args = { owner: 'mira', rows: [{ size: 1 }] };
  await runtime.approve('s', call, { ...waiting, args, by: 'mira' });
  return { ask: asking(server), runtime };
}

describe('the payloads of a step over HTTP', () => {
  it('are refused to owners unless the server shows payloads', async () => {
    const agent = builderWith(followingDriver([final('Done.')])).build();
    const runtime = runtimeOn(sqlitePlace().open(), agent);
    const server = agentServer({ runtime, owner, agents: [agent] });
    onTestFinished(() => server.close());
    await runtime.create({ owner: 'ann', id: 's' });
    await runtime.send('s', 'Go.', waiting);
    const ask = asking(server);
    for (const path of [
      'model-call?step=1',
      'tool-calls?step=1',
      'payload?step=1&part=system',
      'export',
    ])
      expect(await ask(`GET /api/sessions/s/${path}`)).toMatchObject({
        status: 404,
        body: { error: { code: 'not_found' } },
      });
    expect((await ask('GET /api/compare?left=s&right=s')).status).toBe(404);
  });

  it('are the request with changes by hooks, new parts marked, and the answer, without secrets', async () => {
    const { ask } = await story();
    const { body, text } = await ask('GET /api/sessions/s/model-call?step=2');
    expect(text).not.toContain('abcdefghij');
    expect(body).toMatchObject({ status: 'stored', step: 2, attempts: [{ step: 2, error: null }] });
    const { request, response } = body;
    expect(request.since).toMatchObject({ step: 1 });
    expect(request.system).toMatchObject({ change: 'unchanged', content: { lines: 2 } });
    expect(request.tools).toMatchObject({ change: 'unchanged', names: ['find', 'update', 'ask'] });
    const roles = request.messages.items.map((one: { role: string }) => one.role);
    // the hook adds its message anew in each step
    expect(roles).toEqual(['assistant', 'tool', 'user']);
    expect(request.messages).toMatchObject({ count: 4, added: 3, next: null });
    expect(request.messages.items[0]).toMatchObject({
      isNew: true,
      step: 1,
      reasoning: { text: 'The directory knows.' },
      calls: [{ name: 'find', args: { text: '{"name":"narva"}', isJson: true } }],
    });
    expect(response).toMatchObject({ content: { text: 'Again.' }, finishReason: 'tool_calls' });
    const all = await ask('GET /api/sessions/s/model-call?step=2&messages=all&from=1');
    expect(all.body.request.messages.items).toHaveLength(3);
  });

  it('are the tool calls with error, attempts, edits and results', async () => {
    const { ask } = await story();
    const first = await ask('GET /api/sessions/s/tool-calls?step=1');
    expect(first.text).not.toContain('abcdefghij');
    expect(first.body.calls).toMatchObject([
      {
        tool: 'find',
        kind: 'error',
        result: null,
        error: { code: 'tool_failed', message: expect.stringContaining('[redacted]') },
        attempts: [
          { step: 1, kind: 'error' },
          { step: 2, kind: 'ok', hasSameArgs: true },
        ],
      },
    ]);
    const second = await ask('GET /api/sessions/s/tool-calls?step=2');
    const { result } = second.body.calls[0];
    expect(result.text).toContain('"api_key": "[redacted]"');
    expect(result.text.length).toBeLessThanOrEqual(4_000);
    expect(result.part).toBeTypeOf('string');
    const third = await ask('GET /api/sessions/s/tool-calls?step=3');
    expect(third.body.calls[0]).toMatchObject({
      approval: { decision: 'edited', by: 'mira' },
      args: { text: '{"owner":"mira","rows":[{"size":1}]}' },
      edits: [{ field: 'owner', proposed: { text: 'sam' }, approved: { text: 'mira' } }],
      seen: { text: expect.stringContaining('A person changed the arguments') },
    });
  });

  it('are read range by range, and all ranges are the whole text', async () => {
    const { ask } = await story();
    const { body } = await ask('GET /api/sessions/s/tool-calls?step=2');
    const { part, characters } = body.calls[0].result;
    let text = '';
    for (let from: number | null = 0; from !== null;) {
      const query = `step=2&part=${encodeURIComponent(part)}&from=${from}`;
      const range = await ask(`GET /api/sessions/s/payload?${query}`);
      expect(range.body.characters).toBe(characters);
      text += range.body.text;
      from = range.body.next;
    }
    expect(JSON.parse(text)).toEqual({ company: 'Narva', api_key: '[redacted]', text: long });
    const raw = await ask('GET /api/sessions/s/payload?step=1&part=raw.request');
    expect(JSON.parse(raw.body.text)).toMatchObject({
      system: 'You help.\nThe key is [redacted].',
      toolChoice: 'auto',
    });
    for (const bad of ['part=none', 'part=raw.request&step=0', 'from=1'])
      expect((await ask(`GET /api/sessions/s/payload?step=1&${bad}`)).status).toBe(400);
  });

  it('are those of a nested agent too, and say what was pruned', async () => {
    const { ask, runtime } = await story();
    const { body: trace } = await ask('GET /api/sessions/s/trace');
    const bar = trace.steps[2].bars.find(({ child }: { child?: unknown }) => child !== undefined);
    const { body: inner } = await ask(`GET /api/sessions/s/trace?call=${bar.callId}&step=3`);
    const query = `step=1&agent=${inner.nested.agentId}`;
    const nested = await ask(`GET /api/sessions/s/model-call?${query}`);
    expect(nested.body).toMatchObject({
      status: 'stored',
      request: { since: null, messages: { items: [{ content: { text: 'How old?' } }] } },
      response: { content: { text: 'It is 31.' } },
    });
    const { executionId } = trace;
    await runtime.send('s', 'Next.', waiting);
    await runtime.prune({ olderThan: new Date(Date.now() + 60_000) });
    const old = await ask(`GET /api/sessions/s/model-call?step=1&execution=${executionId}`);
    expect(old.body).toMatchObject({ status: 'pruned', request: null });
    const foreign = await ask('GET /api/sessions/s/model-call?step=1', { as: 'bob' });
    expect(foreign.status).toBe(404);
  });
});

describe('two runs beside each other', () => {
  it('are a fork and its origin: what they share, the first difference, and its cause', async () => {
    const make = (prompt: string, second: ScenarioStep) =>
      builderWith(
        followingDriver([toolCall('find', {}, 'Looking.'), second, final('Done.'), final('Over.')]),
        mockTool('find', 'found'),
        mockTool('note', 'noted'),
      )
        .withSystemPrompt(prompt)
        .build();
    const store = sqlitePlace().open();
    const agent = make('You help.\nNever invent data.', toolCall('find', { more: true }, 'More.'));
    const first = runtimeOn(store, agent);
    await first.create({ owner: 'ann', id: 'origin' });
    await first.send('origin', 'Go.', waiting);
    const other = make(
      'You help.\nNever invent data. Note first.',
      toolCalls([{ name: 'note' }, { name: 'note' }], 'I note it.'),
    );
    const second = runtimeOn(store, other);
    await second.fork('origin', { owner: 'ann', id: 'fork', atStep: 1 });
    await second.resume('fork', waiting);
    const server = agentServer({
      runtime: second,
      owner,
      agents: [other],
      name: 't',
      rateLimit: null,
      payloads: true,
    });
    onTestFinished(() => server.close());
    const ask = asking(server);
    const { body } = await ask('GET /api/compare?left=origin&right=fork');
    expect(body).toMatchObject({
      kind: 'fork',
      same: { steps: 1, shared: 1 },
      difference: {
        step: 2,
        kind: 'response',
        left: { content: { text: 'More.' }, calls: [{ name: 'find' }] },
        right: { content: { text: 'I note it.' }, calls: [{ name: 'note' }, { name: 'note' }] },
        cause: {
          status: 'stored',
          places: [
            {
              where: 'system prompt, line 2',
              left: 'Never invent data.',
              right: 'Never invent data. Note first.',
              same: 'Never invent data.'.length,
            },
          ],
        },
      },
      rows: [
        { left: { number: 2 }, right: { number: 2, tools: [{ name: 'note', count: 2 }] } },
        { left: { number: 3 }, right: { number: 3 } },
      ],
    });
    const same = await ask('GET /api/compare?left=origin&right=origin');
    expect(same.body).toMatchObject({ difference: null, rows: [], same: { steps: 3 } });
    for (const query of ['left=origin&right=none', 'left=none&right=fork'])
      expect((await ask(`GET /api/compare?${query}`)).status).toBe(404);
    expect((await ask('GET /api/compare?left=origin&right=fork', { as: 'bob' })).status).toBe(404);
  });
});
