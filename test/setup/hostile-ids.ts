import { AgentBuilder, type Agent, type JsonObject, type Tool } from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';

/** Tool call ids that a careless or hostile provider may send. */
export const hostileIds: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'prototype',
  'args',
  'approve',
  'deny',
  '0',
  '-1',
  'Call_1',
  'cal_0123456789abcdef',
  '.',
  '..',
  'a/b',
  '../stop',
  'a\\b',
  '%2f',
  'a b',
  'a\nb',
  'functions.pay:0',
  'x'.repeat(64),
  'x'.repeat(65),
  'x'.repeat(100_000),
  '',
  'é',
  '🙂',
  '\ud800',
  'a\u0000b',
  '\u202e',
];

/** The id as shown in a test title. */
export const shownId = (id: string): string =>
  JSON.stringify(id.length > 40 ? `${id.length} x` : id);

/** The format of every recorded call id. */
export const usableId: RegExp = /^[A-Za-z0-9_-]{1,64}$/;

/** An agent two levels above the tool. All tool calls use this id. */
export function nestedTwice(id: string, tool: Tool, args: JsonObject): Agent {
  const named = (name: string, callee: Tool, given: JsonObject): Agent =>
    AgentBuilder.base()
      .withName(name)
      .withDriver(
        DeterministicDriver.fromSteps(
          ScenarioStep.toolCalls([{ name: callee.name, id, args: given }]),
          ScenarioStep.final(`${name} done`),
        ),
      )
      .withTools(callee)
      .build();
  const asked = (agent: Agent): Tool => agent.asTool({ name: 'ask', description: 'Asks.' });
  const input = { input: 'go' };
  return named('root', asked(named('middle', asked(named('inner', tool, args)), input)), input);
}
