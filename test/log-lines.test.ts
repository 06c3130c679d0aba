import { afterEach, describe, expect, it, vi } from 'vitest';
import { gated } from './setup/approvals.ts';
import {
  AgentBuilder,
  AgentState,
  defineTool,
  describeEvent,
  ErrorPolicy,
  logEvents,
  SessionRuntime,
  type AgentEvent,
} from '../src/index.ts';
import { BroadcastConfig } from '../src/broadcasting/broadcast-config.ts';
import { consoleBroadcaster } from '../src/broadcasting/broadcasters/console.ts';
import { envelopeOf } from '../src/broadcasting/envelope-of.ts';
import { agentServer } from '../src/server/index.ts';
import { memoryStore } from '../src/sessions/stores/memory/index.ts';
import { DeterministicDriver, ScenarioStep } from '../src/testing/index.ts';

const HOSTILE =
  '\u001b]0;pwn\u0007\u001b[2J\u009b31m\u202eevil\u2066\u200b\ufeff\u{e0041}\r\n2026-01-01 FAKE LOG LINE level=info\u2028x';
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** Events with hostile text in names, ids, arguments, messages, errors and reasons. */
async function hostileEvents(): Promise<readonly AgentEvent[]> {
  const echo = defineTool({
    name: 'echo',
    description: 'Repeats.',
    parameters: { type: 'object' },
    execute: (args) => {
      const { fail } = args as { fail?: string };
      if (fail !== undefined) throw new Error(fail);
      return args;
    },
  });
  const agent = AgentBuilder.base()
    .withModel(
      DeterministicDriver.fromSteps(
        ScenarioStep.toolCalls(
          [
            { name: `no${HOSTILE}`, args: { [`k${HOSTILE}`]: HOSTILE } },
            { id: `id${HOSTILE}`, name: 'echo', args: { [`k${HOSTILE}`]: HOSTILE } },
            { name: 'echo', args: { fail: HOSTILE } },
          ],
          HOSTILE,
        ),
        ScenarioStep.error(`provider ${HOSTILE}`),
        ScenarioStep.toolCalls([{ id: 'c1', name: 'pay', args: { [`k${HOSTILE}`]: HOSTILE } }]),
        ScenarioStep.final(HOSTILE),
      ),
    )
    .withTools(echo, gated())
    .withErrorPolicy(ErrorPolicy.retryAll())
    .build();
  const events: AgentEvent[] = [];
  const wiretap = (event: AgentEvent): void => void events.push(event);
  const paused = await agent.run(AgentState.empty().withUserMessage(HOSTILE), { wiretap });
  await agent.resume(paused, { approvals: { c1: { deny: HOSTILE } }, wiretap });
  return events;
}

describe('log lines', () => {
  it('of describeEvent contain no control, bidirectional or invisible characters', async () => {
    const events = await hostileEvents();
    expect(new Set(events.map(({ type }) => type)).size).toBeGreaterThan(10);
    for (const event of events) expect(describeEvent(event)).not.toMatch(UNSAFE);
  });

  it('of logEvents contain none in their fields, except line breaks', async () => {
    const lines: string[] = [];
    const write = (fields: object, message: string): void => {
      lines.push(
        message,
        ...strings(fields).map((text) => text.replaceAll(/[\n\t]|\r(?=\n)/g, '')),
      );
    };
    const tap = logEvents(
      { debug: write, info: write, warn: write, error: write },
      { deltas: true },
    );
    for (const event of await hostileEvents()) tap(event);
    expect(lines.join('')).toContain('\\u202eevil');
    for (const line of lines) expect(line).not.toMatch(UNSAFE);
  });

  it('of consoleBroadcaster contain none', async () => {
    const lines: string[] = [];
    const broadcaster = consoleBroadcaster({ log: (line) => lines.push(line) });
    const envelope = envelopeOf(BroadcastConfig.debug());
    for (const [i, event] of (await hostileEvents()).entries()) {
      const made = envelope(event, 's1', i + 1, i);
      if (made) await broadcaster.broadcast(`agent.${HOSTILE}`, made);
    }
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) expect(line).not.toMatch(UNSAFE);
  });
});

describe('the default error reporters', () => {
  afterEach(() => vi.restoreAllMocks());
  const said = (): { lines: string[] } => {
    const lines: string[] = [];
    vi.spyOn(console, 'error').mockImplementation((...words: unknown[]) => {
      lines.push(words.map(String).join(' '));
    });
    return { lines };
  };
  const expectSafe = (lines: readonly string[]): void => {
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      expect(line).not.toMatch(/\n(?! {4}at )/);
      expect(line.replaceAll('\n', '')).not.toMatch(UNSAFE);
    }
  };

  it('report a listener error in one line with its stack frames', async () => {
    const { lines } = said();
    const agent = AgentBuilder.base().withModel(DeterministicDriver.fromResponses('ok')).build();
    await agent.run('x', {
      wiretap: (event) => {
        if (event.type === 'AgentFinished') throw new Error(HOSTILE);
      },
    });
    expectSafe(lines);
  });

  it('report a failed session run', async () => {
    const { lines } = said();
    const agent = AgentBuilder.base().withModel(DeterministicDriver.fromResponses('ok')).build();
    const runtime = new SessionRuntime({
      store: memoryStore(),
      agents: [agent],
      deps: () => {
        throw new Error(HOSTILE);
      },
    });
    await runtime.create({ owner: 'ada', id: 's1' });
    await runtime.send('s1', 'x', { owner: 'ada' });
    await vi.waitFor(() => expect(lines.length).toBeGreaterThan(0));
    await runtime.close();
    expectSafe(lines);
  });

  it('report a failed request', async () => {
    const { lines } = said();
    const agent = AgentBuilder.base().withModel(DeterministicDriver.fromResponses('ok')).build();
    const runtime = new SessionRuntime({ store: memoryStore(), agents: [agent] });
    const server = agentServer({
      runtime,
      owner: () => {
        throw new Error(HOSTILE);
      },
      agents: [agent],
    });
    const answer = await server.fetch(
      new Request(`http://localhost/api/sessions?search=${encodeURIComponent(HOSTILE)}`),
    );
    expect(answer.status).toBe(500);
    await server.close();
    expectSafe(lines);
  });
});

function strings(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...strings(inner)]);
}
