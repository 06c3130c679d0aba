import { AgentBuilder, defineTool, ErrorPolicy, type Agent } from 'onward';
import { mcp } from 'onward/mcp';
import { ScenarioStep } from 'onward/testing';
import { rememberingDriver, summarizingDriver } from '../setup/compactions.ts';

const { toolCall, final, error } = ScenarioStep;

/** Number of effects that the server should have at the end. */
export const EFFECTS = 6;

const read = defineTool({
  name: 'read',
  description: 'Reads a long text.',
  idempotent: true,
  execute: () => new Promise<string>((done) => setTimeout(() => done('found '.repeat(600)), 30)),
});

/** An agent that uses a server, loses its first model, and whose conversation is compacted again and again. */
export function compactingAgent(url: string): Agent {
  const usage = { usage: null };
  const steps = Array.from({ length: EFFECTS }, (_, n) => [
    toolCall('read', {}, '', usage),
    toolCall('st__effect', { id: `effect ${n}` }, '', usage),
  ]).flat();
  const quota = error({ type: 'rate_limit', code: 'quota', message: 'No credits' });
  return AgentBuilder.base()
    .withName('keeper')
    .withModel(rememberingDriver(...steps.slice(0, 3), quota))
    .withFallback(rememberingDriver(...steps, final('done', usage)))
    .withTools(read)
    .withCapability(mcp({ name: 'st', url }))
    .withCompaction({ atTokens: 2_500, keepTurns: 1, model: summarizingDriver })
    .withErrorPolicy(ErrorPolicy.ignoreToolErrors().withHandling('unknown', 'ignore'))
    .withMaxSteps(100)
    .build();
}
