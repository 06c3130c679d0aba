import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import fc from 'fast-check';
import { ErrorPolicy, SessionRuntime } from 'onward';
import type { SessionStore } from 'onward/stores';
import { sessionEvents, toUseChatMessages, uiMessageStream } from 'onward/broadcasting/use-chat';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  ann,
  builderWith,
  clientOn,
  followingDriver,
  memoryPlace,
  pause,
  runtimeOn,
  until,
  type Place,
} from '../setup/sessions.ts';
import {
  all,
  chunksIn,
  handlerOn,
  isValid,
  pacedDriver,
  post,
  readBy,
  says,
  shown,
  type Handler,
  type OnwardUIMessage,
} from './use-chat-setup.ts';

const { toolCalls, final, stream } = ScenarioStep;

/** Creates a client without a DOM that calls the handler. It leaves each response after the frames in `cuts`. */
function clientOf(handler: Handler, cuts: number[], messages: OnwardUIMessage[] = []) {
  let left = false;
  const chunks: unknown[] = [];
  const direct: typeof fetch = async (input, init) => {
    const response = await handler(new Request(String(input), init));
    if (!response.body) return response;
    const limit = cuts.shift() ?? Number.POSITIVE_INFINITY;
    let frames = 0;
    const decoder = new TextDecoder();
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(frame, controller) {
          const data = decoder.decode(frame).slice(6).trim();
          if (data.startsWith('{')) chunks.push(JSON.parse(data));
          if (frames === limit) {
            left = true;
            void chat.stop();
          }
          frames += 1;
          if (frames <= limit) controller.enqueue(frame);
        },
      }),
    );
    return new Response(counted, response);
  };
  const transport = new DefaultChatTransport<OnwardUIMessage>({
    api: 'http://host/api/chat',
    fetch: direct,
  });
  const errors: string[] = [];
  const chat: Chat<OnwardUIMessage> = new Chat({
    id: 'chat-1',
    transport,
    messages,
    onError: (error) => errors.push(error.message),
  });
  return {
    chat,
    chunks,
    errors,
    /** Resumes after each disconnect. */
    async back(): Promise<void> {
      while (left) {
        left = false;
        await chat.resumeStream();
      }
    },
  };
}

interface Plan {
  readonly words: readonly string[];
  readonly calls: readonly ('look' | 'fail' | 'pay' | 'none')[];
}

const plans = fc.array(
  fc.record({
    words: fc.array(fc.constantFrom('a ', 'b ', 'ccc ', 'é ', '🙂 '), { maxLength: 5 }),
    calls: fc.array(fc.constantFrom('look', 'fail', 'pay', 'none'), { maxLength: 3 }),
  }),
  { minLength: 0, maxLength: 3 },
);

const scriptOf = (plan: readonly Plan[]): ScenarioStep[] => [
  ...plan.map(({ words, calls }) => ({
    ...toolCalls(
      (calls.length > 0 ? calls : (['look'] as const)).map((name, i) => ({ name, args: { i } })),
      words.join(''),
    ),
    chunks: words,
  })),
  stream(['The ', 'end', '.']),
];

function runtimeFor(place: Place, plan: readonly Plan[], waitMs = 0): SessionRuntime {
  const driver = pacedDriver(
    { beforePiece: () => (waitMs > 0 ? pause(waitMs) : undefined) },
    scriptOf(plan),
  );
  const agent = builderWith(
    driver,
    mockTool('look', () => pause(1).then(() => ({ found: true }))),
    mockTool('fail', new Error('it broke')),
    mockTool('pay', 'paid', { needsApproval: true }),
  )
    .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
    .withMaxSteps(10)
    .build();
  return new SessionRuntime({ store: place.open(), agents: [agent] });
}

/** Creates two runtimes and closes them, because a property test creates many. */
async function withRuntimes<T>(
  plan: readonly Plan[],
  waitMs: number,
  work: (straight: SessionRuntime, other: SessionRuntime) => Promise<T>,
): Promise<T> {
  const straight = runtimeFor(memoryPlace(), plan);
  const other = runtimeFor(memoryPlace(), plan, waitMs);
  try {
    return await work(straight, other);
  } finally {
    await Promise.all([straight, other].map((runtime) => runtime.close({ graceMs: 0 })));
  }
}

/** Runs a whole conversation: sends, approves every call, and resumes after each disconnect. */
async function converse(client: ReturnType<typeof clientOf>): Promise<void> {
  const { chat } = client;
  if (chat.messages.length === 0) await chat.sendMessage({ text: 'go' });
  await client.back();
  for (;;) {
    const open = chat.lastMessage?.parts.flatMap((part) =>
      'approval' in part && part.state === 'approval-requested' ? [part.approval.id] : [],
    );
    if (!open?.length) return;
    for (const id of open) await chat.addToolApprovalResponse({ id, approved: true });
    await chat.sendMessage();
    await client.back();
  }
}

/** Returns the parts by step, with concurrent calls sorted by id. */
function steps(message: OnwardUIMessage | undefined): unknown[][] {
  const list: { toolCallId?: string }[][] = [];
  for (const part of shown(message) as {
    type: string;
    toolCallId?: string;
    approval?: unknown;
  }[]) {
    const { approval: _who, ...rest } = part;
    if (part.type === 'step-start') list.push([]);
    else list.at(-1)?.push(rest);
  }
  return list.map((step) =>
    step.toSorted((a, b) => (a.toolCallId ?? '').localeCompare(b.toolCallId ?? '')),
  );
}

describe('D63: a client that resumes', () => {
  const cutsOf = fc.array(fc.nat(30), { maxLength: 4 });

  it('has the same message after any number of disconnects at any position', async () => {
    const holds = async (
      straightly: SessionRuntime,
      runtime: SessionRuntime,
      cuts: readonly number[],
    ): Promise<void> => {
      const straight = clientOf(handlerOn(straightly), []);
      await converse(straight);
      await isValid(straight.chunks);
      const broken = clientOf(handlerOn(runtime), [...cuts]);
      await converse(broken);
      await isValid(broken.chunks);
      expect([...straight.errors, ...broken.errors]).toEqual([]);
      expect(broken.chat.messages).toHaveLength(2);
      expect(steps(broken.chat.lastMessage)).toEqual(steps(straight.chat.lastMessage));
      expect(broken.chat.lastMessage!.metadata).toMatchObject({ status: 'completed' });
      const { items } = await runtime.messages('chat-1', ann);
      const done = await runtime.steps('chat-1', ann);
      for (const options of [{}, { steps: done.items }])
        expect(withoutBindings(toUseChatMessages(items, options).at(-1))).toEqual(
          withoutBindings(straight.chat.lastMessage),
        );
    };
    await fc.assert(
      fc.asyncProperty(plans, cutsOf, fc.constantFrom(0, 1), (plan, cuts, waitMs) =>
        withRuntimes(plan, waitMs, (straight, other) => holds(straight, other, cuts)),
      ),
      { numRuns: 40 },
    );
  }, 60_000);

  it('has the same message after a page load at any position', async () => {
    const holds = async (
      straightly: SessionRuntime,
      runtime: SessionRuntime,
      cut: number,
    ): Promise<void> => {
      const straight = clientOf(handlerOn(straightly), []);
      await converse(straight);
      const handler = handlerOn(runtime);
      const before = clientOf(handler, [cut]);
      await before.chat.sendMessage({ text: 'go' });
      const { items } = await until(async () => {
        const page = await runtime.messages('chat-1', ann);
        return page.items.length > 0 ? page : null;
      });
      const { pendingApprovals } = await runtime.get('chat-1', ann);
      const loaded = toUseChatMessages(items, { pendingApprovals }) as OnwardUIMessage[];
      const after = clientOf(handler, [], loaded);
      await after.chat.resumeStream();
      await converse(after);
      expect(after.errors).toEqual([]);
      expect(after.chat.messages).toHaveLength(2);
      expect(steps(after.chat.lastMessage)).toEqual(steps(straight.chat.lastMessage));
    };
    await fc.assert(
      fc.asyncProperty(plans, fc.nat(30), (plan, cut) =>
        withRuntimes(plan, 1, (straight, other) => holds(straight, other, cut)),
      ),
      { numRuns: 40 },
    );
  }, 60_000);
});

/** Removes argument hashes: the history of answered calls has none. */
const withoutBindings = (message: unknown): unknown[] =>
  steps(message as OnwardUIMessage).map((step) =>
    step.map((part) => {
      const { callProviderMetadata: _binding, rawInput, ...rest } = part as Record<string, unknown>;
      // the AI SDK keeps the arguments of a rejected call in rawInput
      return rawInput === undefined ? rest : { ...rest, input: rawInput };
    }),
  );

describe('sessionEvents', () => {
  it('yields the newest run of a session, and leaving the loop does not stop the run', async () => {
    const runtime = runtimeFor(memoryPlace(), []);
    onTestFinished(() => runtime.close());
    const { id } = await runtime.create(ann);
    expect(await all(sessionEvents(runtime, { sessionId: id, ...ann }))).toEqual([]);
    const { executionId } = await runtime.send(id, 'go', ann);
    const options = { sessionId: id, ...ann, executionId: executionId! };
    for await (const event of sessionEvents(runtime, options))
      if (event.type === 'AgentStepStarted') break;
    const { message } = await readBy(
      await all(uiMessageStream(sessionEvents(runtime, { sessionId: id, ...ann }))),
    );
    expect(shown(message).at(-1)).toMatchObject({ text: 'The end.' });
  });

  it('shows a text once if another process takes over during it', async () => {
    const place = memoryPlace();
    const hangs = { ...stream(['lost ', 'words']), extras: { hangs: true } };
    // from then on the lease expires, as after a crash
    let isGone = false;
    const store = place.open();
    const renew: SessionStore['renew'] = (given) =>
      isGone ? new Promise(() => {}) : store.renew(given);
    const dying = runtimeOn({ ...store, renew }, builderWith(followingDriver([hangs])).build(), {
      onError: () => {},
      lease: { leaseMs: 200, heartbeatMs: 50, signalMs: 50 },
    });
    const handler = handlerOn(dying);
    const client = clientOf(handler, []);
    const talk = client.chat.sendMessage({ text: 'go' });
    await until(() => client.chat.lastMessage?.parts.some((part) => part.type === 'text'));
    isGone = true;
    const saved = runtimeOn(place.open(), builderWith(followingDriver([final('saved')])).build());
    await until(async () => {
      await saved.recover();
      return (await saved.get('chat-1', ann)).status === 'completed';
    });
    await talk;
    expect(client.errors).toEqual([]);
    expect(shown(client.chat.lastMessage).at(-1)).toMatchObject({ text: 'saved' });
    expect(shown(client.chat.lastMessage)).toHaveLength(2);
  });

  it('merges chunks for a client that does not read, without losing text', async () => {
    const words = Array.from({ length: 12_000 }, (_w, i) => `${i} `);
    const agent = builderWith(followingDriver([stream(words)])).build();
    const runtime = runtimeOn(memoryPlace().open(), agent);
    const response = await handlerOn(runtime)(post({ id: 'chat-1', messages: [says('go')] }));
    await runtime.wait('chat-1', ann);
    const chunks = await chunksIn(response);
    expect(chunks.length).toBeLessThan(6_000);
    const { message } = await readBy(
      chunks.filter(({ type }) => type !== 'text-delta').slice(0, 2),
    );
    expect(message.id).toContain('_answer');
    const text = chunks.flatMap((chunk) => (chunk.type === 'text-delta' ? [chunk.delta] : []));
    expect(text.join('')).toBe(words.join(''));
  });

  it('throws if the execution never starts, and if the runtime is closed before its end', async () => {
    const agent = builderWith(followingDriver([final('done')])).build();
    const runtime = clientOn(memoryPlace().open(), agent);
    const { id } = await runtime.create(ann);
    const read = (executionId: string) =>
      all(sessionEvents(runtime, { sessionId: id, ...ann, executionId, pollMs: 5 }));
    await expect(read('none')).rejects.toThrow(/dropped before it started/);
    const { executionId } = await runtime.send(id, 'go', ann);
    const reading = read(executionId!);
    await pause(20);
    await runtime.close();
    await expect(reading).rejects.toMatchObject({ code: 'runtime_closed' });
  });

  it('follows a run of another process to its end', async () => {
    const place = memoryPlace();
    const worker = runtimeFor(place, []);
    onTestFinished(() => worker.close());
    const client = clientOn(place.open(), builderWith(followingDriver([])).build());
    const { id } = await client.create(ann);
    const { executionId } = await client.send(id, 'go', ann);
    const reading = all(
      sessionEvents(client, { sessionId: id, ...ann, executionId: executionId!, pollMs: 5 }),
    );
    await pause(20);
    await worker.recover();
    const events = await reading;
    expect(events.at(-1)).toMatchObject({ type: 'AgentFinished' });
    expect(events.map(({ type }) => type)).not.toContain('StreamChunk');
  });
});
