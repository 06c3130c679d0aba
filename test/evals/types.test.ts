import { createAgent, defineTool, type Agent } from 'onward';
import { defineEval, evalHarness, type EvalCase } from 'onward/evals';
import { describe, expect, it } from 'vitest';
import { scriptOf } from '../setup/eval-script.ts';

interface Bank {
  readonly name: string;
}
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  execute: (_args, { deps }: { readonly deps: { readonly bank: Bank } }) => deps.bank.name,
});
const agent = createAgent({ driver: scriptOf([{ text: 'hi' }]), tools: [pay] });
const cases: readonly EvalCase[] = [{ name: 'a', input: 'hi' }];

describe('the types of an eval', () => {
  it('require the dependencies of the agent, whole or per case', () => {
    const bank = { name: 'b' };
    expect(defineEval({ name: 'a', agent, cases, deps: { bank } }).name).toBe('a');
    expect(defineEval({ name: 'a', agent, cases, deps: () => ({ bank }) }).name).toBe('a');
    // @ts-expect-error the agent needs a bank
    expect(defineEval({ name: 'a', agent, cases }).name).toBe('a');
    // @ts-expect-error a bank has a name
    expect(defineEval({ name: 'a', agent, cases, deps: { bank: {} } }).name).toBe('a');
  });

  it('accept an agent without dependencies, and a function that makes one', async () => {
    const plain: Agent = createAgent({ driver: scriptOf([{ text: 'hi' }]) });
    expect(defineEval({ name: 'a', agent: plain, cases }).agent).toBe(plain);
    const made = evalHarness({ agent: ({ name }: EvalCase) => (name === 'x' ? plain : plain) });
    expect((await made.run('hi')).outputText).toBe('hi');
  });
});
