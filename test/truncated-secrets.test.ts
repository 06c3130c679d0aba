import { AgentBuilder, defineTool, toolContent, type AgentEvent } from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { failureText } from '../src/sessions/failure-text.ts';
import { byLook, redactor } from './setup/canary.ts';

const { toolCall, final } = ScenarioStep;

/** A text with a secret that begins at this character. */
const withSecret = (at: number): string =>
  `${'w '.repeat(Math.ceil(at / 2)).slice(0, at - 1)} ${byLook} ${'more '.repeat(400)}`;

/** Offsets at which a limit falls inside of the secret, or beside it. */
const around = (limit: number): readonly number[] =>
  Array.from({ length: byLook.length + 6 }, (_, i) => limit - byLook.length - 3 + i);

/** Everything that leaves a run: events, and the state without secrets. */
async function leaving(steps: readonly ScenarioStep[], execute: () => unknown): Promise<string> {
  const tool = defineTool({
    name: 'read',
    description: 'Reads.',
    parameters: z.object({}),
    maxResultChars: 200,
    execute,
  });
  const agent = AgentBuilder.base()
    .withDriver(DeterministicDriver.fromSteps(...steps))
    .withTools(tool)
    .withRedactor(redactor)
    .build();
  const events: AgentEvent[] = [];
  agent.wiretap((event) => void events.push(event));
  const state = await agent.run('go');
  const steps_ = state.steps.toJSON().map(({ outcome, errors }) => ({ outcome, errors }));
  return JSON.stringify([events, redactor.value(state.messages.toJSON()), steps_]);
}

describe('no part of a secret leaves, wherever a text is truncated', () => {
  it.each<[string, (text: string) => unknown]>([
    ['a text', (text) => text],
    ['JSON', (text) => ({ rows: [text] })],
    ['parts', (text) => toolContent([{ type: 'text', text }])],
  ])('a result of a tool: %s', async (_what, resultOf) => {
    for (const at of around(200)) {
      const said = await leaving([toolCall('read'), final('Ok.')], () => resultOf(withSecret(at)));
      expect(said).toContain('w w');
      expect(said).not.toContain('sk-live');
    }
  });

  it('the error of a tool', async () => {
    for (const at of around(200)) {
      const said = await leaving([toolCall('read'), final('Ok.')], () => {
        throw new Error(withSecret(at));
      });
      expect(said).not.toContain('sk-live');
    }
  });

  it('arguments that are rejected for their size', async () => {
    const size = 'x'.repeat(1_000_000);
    for (const at of [9_975, 9_985, 9_995]) {
      const call = { id: 'c1', name: 'read', argsRaw: `["${withSecret(at)}${size}` };
      const said = await leaving([ScenarioStep.toolCalls([call]), final('Ok.')], () => '');
      expect(said).not.toContain('sk-live');
    }
  });

  it('the failure of a session', () => {
    // redacted, the text before the limit is short enough to be shown whole
    const hidden = `${byLook}${'a'.repeat(70)} `.repeat(36);
    for (const at of around(4_000)) {
      const text = failureText(new Error(hidden + withSecret(at - hidden.length)), redactor);
      expect(text).not.toContain('sk-live');
    }
  });
});
