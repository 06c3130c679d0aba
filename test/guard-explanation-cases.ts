import { AgentBuilder, type AgentState, type Capability } from 'onward';
import { guardInput, guardOutput, guardTools } from 'onward/capabilities';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';

const { toolCalls, final } = ScenarioStep;

const guarded = (step: ScenarioStep, capability: Capability): Promise<AgentState> =>
  AgentBuilder.base()
    .withDriver(DeterministicDriver.fromSteps(step))
    .withTools(mockTool('search', 'found'), mockTool('delete_lead', 'gone'))
    .withCapability(capability)
    .build()
    .run('go');

/** One run for each stop of a guard. */
export const guardExplanationCases: Readonly<Record<string, () => Promise<AgentState>>> = {
  'message that a guard blocked': () =>
    guarded(
      final('x'),
      guardInput({ name: 'no-cards', check: () => ({ block: 'a card number' }) }),
    ),
  'answer that a guard held back': () =>
    guarded(
      final('x'),
      guardOutput({
        name: 'no-prices',
        check: () => ({ block: 'a price', message: 'Ask sales for prices.' }),
      }),
    ),
  'calls that a guard blocked': () =>
    guarded(
      toolCalls([{ name: 'search' }, { name: 'delete_lead' }]),
      guardTools({ name: 'no-deletes', check: () => ({ block: 'it deletes' }) }),
    ),
  'guard that threw': () =>
    guarded(
      final('x'),
      guardOutput({
        name: 'no-prices',
        check: () => {
          throw new Error('the classifier is offline');
        },
      }),
    ),
  'guard that was too slow': () =>
    guarded(
      final('x'),
      guardInput({ name: 'no-cards', timeoutMs: 5, check: () => new Promise(() => {}) }),
    ),
};
